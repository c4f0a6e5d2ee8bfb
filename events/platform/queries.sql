-- name: migration_table
CREATE SCHEMA IF NOT EXISTS log;
CREATE TABLE IF NOT EXISTS log.migrations (
    name       text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);

-- name: extensions
SELECT wanted.name, available.name IS NOT NULL, available.installed_version IS NOT NULL
FROM unnest(%(names)s::text[]) AS wanted(name)
LEFT JOIN pg_available_extensions available ON available.name = wanted.name;

-- name: foreign_objects
-- Objects in the schemas of Cardlog that belong to another role than the connected one, which may log in: such a role
-- could replace them. A superuser could do so anyway.
SELECT DISTINCT r.rolname, o.name
FROM (
    SELECT n.oid AS schema, 'the schema ' || n.nspname AS name, n.nspowner AS owner FROM pg_namespace n
    UNION ALL
    SELECT c.relnamespace, c.oid::regclass::text, c.relowner FROM pg_class c WHERE c.relkind NOT IN ('i', 'I')
    UNION ALL
    SELECT p.pronamespace, p.oid::regprocedure::text, p.proowner FROM pg_proc p
) o
JOIN pg_namespace n ON n.oid = o.schema
JOIN pg_roles r ON r.oid = o.owner
WHERE r.rolcanlogin AND NOT r.rolsuper AND r.rolname <> current_user
  AND (n.nspname IN ('log', 'sealing', 'access', 'erasure', 'audit', 'vector_cache')
       OR n.nspname ~ ('^(' || array_to_string(%(projections)s::text[], '|') || ')(_g[0-9]+)?$'))
ORDER BY 2;

-- name: migrations_applied
SELECT name FROM log.migrations;

-- name: migrations_exists
-- The query reads the catalog tables. A look-up by name (to_regclass) is cached and would hide a table that another
-- process creates meanwhile.
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'log' AND c.relname = 'migrations');

-- name: is_proven
-- A session whose claim has no valid proof sees no row, unless no policy concerns its role.
SELECT log.vouched(%(claim)s) IS NOT NULL OR NOT row_security_active('log.events');

-- name: sees_every_tenant
SELECT log.sees_every_tenant();

-- name: migration_done
INSERT INTO log.migrations (name) VALUES (%(name)s);

-- name: keep_to_tenant
-- Not local to a transaction: every transaction of this session works for one tenant.
SELECT set_config('cardlog.tenant', %(tenant)s, false);

-- name: migration_lock
SELECT pg_advisory_xact_lock(%(key)s);

-- name: see_every_tenant
-- Not local to a transaction: every transaction of this session works for all tenants. A role without the right to do so
-- sees no row. Names without a schema mean the server's own objects and extensions, and never those of another role.
SELECT set_config('cardlog.tenant', %(tenant)s, false), set_config('search_path', 'public, pg_temp', false);

-- name: see_tenant
SELECT set_config('cardlog.tenant', %(tenant)s, true);

-- name: set_idle_in_transaction_timeout
-- The server ends a session that is idle in a transaction for this long. The end of the session frees its locks.
SELECT set_config('idle_in_transaction_session_timeout', %(milliseconds)s::text, false);
