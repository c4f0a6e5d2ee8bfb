-- Folds the log of all tenants into tables that the role owns. It appends nothing.
GRANT CREATE, TEMPORARY ON DATABASE {database} TO {role};
GRANT EXECUTE ON FUNCTION log.may_see_every_tenant() TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT SELECT, UPDATE ON log.reembeddings TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE
    ON log.checkpoints, log.generations, log.parked, log.dropped, log.heartbeats, log.reference_use TO {role};
DO $$
DECLARE
    it record;
BEGIN
    -- Tables that another role folded before.
    FOR it IN SELECT n.oid, n.nspname FROM pg_namespace n
              WHERE n.nspname = 'vector_cache' OR n.nspname IN (
                  SELECT CASE g.status WHEN 'live' THEN g.projection ELSE g.projection || '_g' || g.generation END
                  FROM log.generations g) LOOP
        EXECUTE format('ALTER SCHEMA %I OWNER TO %I', it.nspname, {role_name});
    END LOOP;
    FOR it IN SELECT c.oid::regclass AS name FROM pg_class c
              WHERE c.relkind IN ('r', 'p', 'v')
                AND c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = {role_name}) AND c.relnamespace IN (
                  SELECT n.oid FROM pg_namespace n WHERE n.nspname = 'vector_cache' OR n.nspname IN (
                      SELECT CASE g.status WHEN 'live' THEN g.projection ELSE g.projection || '_g' || g.generation END
                      FROM log.generations g)) LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', it.name, {role_name});
    END LOOP;
END $$;
