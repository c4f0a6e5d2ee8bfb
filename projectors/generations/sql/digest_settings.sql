-- A row is written the same way whatever the server or the session was told.
SET LOCAL TimeZone = 'UTC';
SET LOCAL DateStyle = 'ISO, YMD';
SET LOCAL extra_float_digits = 1;
SET LOCAL bytea_output = 'hex';
