-- The folded tables belong to the owner of the log, too. An earlier version gave them to the role of the projector. Views,
-- triggers and rules that this role may have put there are dropped, and the views of Cardlog are made anew. A function of the
-- role where an owner could call it ends the script.
DO $$
DECLARE
    it    record;
    those record;
    ours  CONSTANT oid := (SELECT oid FROM pg_roles WHERE rolname = {owner_name});
    found text;
BEGIN
    FOR it IN SELECT n.oid, n.nspname AS name, n.nspowner FROM pg_namespace n
              WHERE n.nspname = 'vector_cache' OR log.projection_of(n.nspname) IS NOT NULL LOOP
        IF it.nspowner <> ours THEN
            EXECUTE format('ALTER SCHEMA %I OWNER TO %I', it.name, {owner_name});
        END IF;
        FOR those IN SELECT c.oid::regclass AS name FROM pg_class c
                     WHERE c.relnamespace = it.oid AND c.relkind = 'v' AND c.relowner <> ours LOOP
            EXECUTE format('DROP VIEW IF EXISTS %s CASCADE', those.name);
        END LOOP;
        FOR those IN SELECT 'TRIGGER' AS kind, t.tgname AS name, t.tgrelid::regclass AS of
                     FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
                     WHERE c.relnamespace = it.oid AND c.relowner <> ours AND NOT t.tgisinternal
                     UNION ALL
                     SELECT 'RULE', r.rulename, r.ev_class::regclass FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
                     WHERE c.relnamespace = it.oid AND c.relowner <> ours AND c.relkind IN ('r', 'p') LOOP
            EXECUTE format('DROP %s IF EXISTS %I ON %s', those.kind, those.name, those.of);
        END LOOP;
        FOR those IN SELECT c.oid::regclass AS name FROM pg_class c
                     WHERE c.relnamespace = it.oid AND c.relkind IN ('r', 'p') AND c.relowner <> ours LOOP
            EXECUTE format('ALTER TABLE %s OWNER TO %I', those.name, {owner_name});
        END LOOP;
    END LOOP;
    FOR it IN SELECT n.oid, n.nspname AS name FROM pg_namespace n WHERE log.projection_of(n.nspname) IS NOT NULL LOOP
        FOR those IN SELECT b.step FROM log.blueprints b
                     WHERE b.projection = log.projection_of(it.name) AND ltrim(b.script) LIKE 'CREATE VIEW%'
                       AND NOT EXISTS (SELECT FROM pg_class c WHERE c.relnamespace = it.oid AND c.relkind = 'v') LOOP
            BEGIN
                PERFORM log.run_step(it.name, 'tables', those.step);
            EXCEPTION WHEN undefined_table OR undefined_column THEN
                RAISE WARNING 'the tables in % are of an older version and stay without views: rebuild them', it.name;
            END;
        END LOOP;
        PERFORM log.let_fold(it.name);
        PERFORM log.let_read(it.name) WHERE EXISTS (
            SELECT FROM pg_class c WHERE c.relnamespace = it.oid AND c.relforcerowsecurity);
    END LOOP;

    SELECT string_agg(pg_describe_object(d.classid, d.objid, 0), ', ') INTO found
    FROM pg_shdepend d CROSS JOIN LATERAL pg_identify_object(d.classid, d.objid, 0) o
    WHERE d.dbid = (SELECT oid FROM pg_database WHERE datname = current_database()) AND d.deptype = 'o'
      AND d.refclassid = 'pg_authid'::regclass AND d.refobjid = (SELECT oid FROM pg_roles WHERE rolname = {role_name})
      AND (o.schema IN ('log', 'sealing', 'access', 'erasure', 'audit', 'vector_cache')
           OR log.projection_of(o.schema) IS NOT NULL
           OR o.schema = 'public' AND d.classid IN ('pg_proc'::regclass, 'pg_operator'::regclass));
    IF found IS NOT NULL THEN
        RAISE EXCEPTION 'the role % owns %: an owner of the database could run its code; drop it, then try again',
            {role_name}, found USING ERRCODE = 'object_not_in_prerequisite_state';
    END IF;
END $$;
