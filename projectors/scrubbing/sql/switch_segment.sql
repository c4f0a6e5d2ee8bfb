-- A segment without a record is not switched.
SELECT pg_switch_wal() FROM (SELECT pg_logical_emit_message(true, 'cardlog', 'scrub')) message;
