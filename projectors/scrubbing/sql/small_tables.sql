-- Tables outside the projections whose rows may hold words, keys or vectors of users. `pg_statistic` holds samples of the
-- columns. Tables that do not exist are left out.
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND (
    (n.nspname = 'log' AND c.relname IN ('parked', 'dropped', 'heartbeats'))
    OR n.nspname IN ('sealing', 'vector_cache')
    OR (n.nspname = 'pg_catalog' AND c.relname = 'pg_statistic'))
ORDER BY n.nspname = 'pg_catalog', n.nspname, c.relname;
