-- The text form of a row must not depend on the settings of the server or of the session.
SET LOCAL TimeZone = 'UTC';
SET LOCAL DateStyle = 'ISO, YMD';
SET LOCAL extra_float_digits = 1;
SET LOCAL bytea_output = 'hex';
