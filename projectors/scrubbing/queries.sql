-- name: began
SELECT clock_timestamp();

-- name: old_segments
-- Segments that were last written before: of before, or kept under a later name to be overwritten.
SELECT count(*)::integer FROM pg_ls_waldir() WHERE modification < %(since)s AND name ~ '^[0-9A-F]{24}$';

-- name: small_tables
-- Tables outside the projections whose rows may hold words, keys or vectors of users. `pg_statistic` holds samples of the
-- columns. Tables that do not exist are left out.
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND (
    (n.nspname = 'log' AND c.relname IN ('parked', 'dropped', 'heartbeats'))
    OR n.nspname IN ('sealing', 'vector_cache')
    OR (n.nspname = 'pg_catalog' AND c.relname = 'pg_statistic'))
ORDER BY n.nspname = 'pg_catalog', n.nspname, c.relname;

-- name: tables_of
SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname = %(schema)s ORDER BY c.relname;

-- name: scrubbed
UPDATE erasure.tombstones SET scrubbed_at = clock_timestamp() WHERE scrubbed_at IS NULL AND erased_at < %(began)s;

-- name: checkpoint
CHECKPOINT;

-- name: lock_timeout
SELECT set_config('lock_timeout', %(timeout)s, false);

-- name: next_second
-- The server tells the time of a file in whole seconds, so the next second must begin first.
WITH next AS MATERIALIZED (SELECT date_trunc('second', clock_timestamp()) + interval '1 second' AS at)
SELECT next.at FROM next, pg_sleep(extract(epoch FROM next.at - clock_timestamp()) + 0.05);

-- name: switch_segment
-- A segment without a record is not switched.
SELECT pg_switch_wal() FROM (SELECT pg_logical_emit_message(true, 'cardlog', 'scrub')) message;
