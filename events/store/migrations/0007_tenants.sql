-- Row-level security: a session sees the rows of one tenant, which it names in the transaction-local setting
-- cardlog.tenant. Without the setting it sees no row. Workers name '*', and then they see the rows of all tenants.

-- The rule of events/types/tenancy.py. The planner inlines the body.
CREATE FUNCTION log.tenant_of(storage_id text) RETURNS text LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN CASE WHEN strpos(storage_id, E'\x1f') = 0 THEN 'default' ELSE split_part(storage_id, E'\x1f', 1) END;

-- The tenant of the transaction, or null. A setting that was local to an earlier transaction is an empty text.
CREATE FUNCTION log.tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN nullif(current_setting('cardlog.tenant', true), '');

-- A role that may execute this function may work for all tenants. The function itself does nothing. The privilege needs
-- no role with a fixed name, so it also works for an installation with one role, which owns the log.
CREATE FUNCTION log.may_see_every_tenant() RETURNS void LANGUAGE sql IMMUTABLE PARALLEL SAFE
BEGIN ATOMIC
    SELECT;
END;
REVOKE ALL ON FUNCTION log.may_see_every_tenant() FROM PUBLIC;

-- True when the transaction works for all tenants. The role of the session counts too, because log.append runs as the
-- owner of the log: a session of one tenant stays in that tenant there.
CREATE FUNCTION log.sees_every_tenant() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN log.tenant() = '*'
   AND has_function_privilege(current_user, 'log.may_see_every_tenant()', 'EXECUTE')
   AND has_function_privilege(session_user, 'log.may_see_every_tenant()', 'EXECUTE');

-- Protects one table of users, or one view of such tables. FORCE subjects the owner of a table too. The settings are read
-- once for each statement and not once for each row. PostgreSQL joins both policies with OR, in the order of their
-- names. A view checks the policies of the role that asks, and not those of its owner.
CREATE FUNCTION log.protect(relation regclass) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF (SELECT relkind FROM pg_class WHERE oid = relation) = 'v' THEN
        EXECUTE format('ALTER VIEW %s SET (security_invoker = true)', relation);
        RETURN;
    END IF;
    EXECUTE format('ALTER TABLE %s ENABLE ROW LEVEL SECURITY', relation);
    EXECUTE format('ALTER TABLE %s FORCE ROW LEVEL SECURITY', relation);
    EXECUTE format('CREATE POLICY every_tenant ON %s USING ((SELECT log.sees_every_tenant()))', relation);
    EXECUTE format('CREATE POLICY tenant ON %s USING (log.tenant_of(user_id) = (SELECT log.tenant()))', relation);
END $$;

-- Lets the members of cardlog_readers read the folded tables in a schema. `cardlog grant` makes that role. Without the role
-- the function does nothing.
CREATE FUNCTION log.let_read(folded text) RETURNS void LANGUAGE plpgsql AS $$
BEGIN
    IF EXISTS (SELECT FROM pg_roles WHERE rolname = 'cardlog_readers') THEN
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO cardlog_readers', folded);
        EXECUTE format('GRANT SELECT ON ALL TABLES IN SCHEMA %I TO cardlog_readers', folded);
    END IF;
END $$;

SELECT log.protect('log.events');
SELECT log.protect('log.parked');
SELECT log.protect('log.dropped');

-- Under a policy, PostgreSQL uses an index for an operator only when the function of the operator is LEAKPROOF. The
-- operators && and @> of arrays reveal nothing but their result, for arrays of numbers. Only a superuser may say so.
-- Without it, searches read all cards of their user: see `cardlog doctor`.
DO $$
BEGIN
    IF EXISTS (SELECT FROM pg_proc WHERE oid IN ('arrayoverlap'::regproc, 'arraycontains'::regproc)
               AND NOT proleakproof) THEN
        ALTER FUNCTION pg_catalog.arrayoverlap(anyarray, anyarray) LEAKPROOF;
        ALTER FUNCTION pg_catalog.arraycontains(anyarray, anyarray) LEAKPROOF;
    END IF;
EXCEPTION WHEN insufficient_privilege THEN
    NULL;
END $$;
