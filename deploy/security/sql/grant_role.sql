-- The role of workers and services reads the log and appends to it with log.append. It cannot change the log. It owns
-- the folded tables. The log belongs to a role that nobody logs in as. The script can be repeated, and then only grants
-- the rights on objects that an upgrade added.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {owner_name}) THEN
        CREATE ROLE {owner} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION;
    END IF;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        -- PostgreSQL allows a change of owner only to a member of both roles.
        EXECUTE format('GRANT %I, %I TO %I', {owner_name}, {role_name}, current_user);
    END IF;
END $$;

REVOKE {owner} FROM {role};
ALTER SCHEMA log OWNER TO {owner};
DO $$
DECLARE
    it record;
BEGIN
    FOR it IN SELECT c.oid::regclass AS name FROM pg_class c
              WHERE c.relnamespace = 'log'::regnamespace AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
                AND c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = {owner_name}) LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', it.name, {owner_name});
    END LOOP;
    FOR it IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = 'log'::regnamespace
                AND p.proowner <> (SELECT oid FROM pg_roles WHERE rolname = {owner_name}) LOOP
        EXECUTE format('ALTER ROUTINE %s OWNER TO %I', it.name, {owner_name});
    END LOOP;
END $$;

REVOKE ALL ON SCHEMA log FROM PUBLIC, {role};
REVOKE ALL ON ALL TABLES IN SCHEMA log FROM PUBLIC, {role};
GRANT USAGE ON SCHEMA log TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA log TO {role};
GRANT USAGE ON ALL SEQUENCES IN SCHEMA log TO {role};
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA log TO {role};
GRANT CONNECT, CREATE, TEMPORARY ON DATABASE {database} TO {role};
DO $$
DECLARE
    it record;
BEGIN
    -- Workers write checkpoints and similar tables. They must not write the events or the key that signs tokens.
    FOR it IN SELECT c.oid::regclass AS name FROM pg_class c
              WHERE c.relnamespace = 'log'::regnamespace AND c.relkind IN ('r', 'p')
                AND c.relname NOT IN ('events', 'heads', 'migrations', 'token_key') LOOP
        EXECUTE format('GRANT INSERT, UPDATE, DELETE ON %s TO %I', it.name, {role_name});
    END LOOP;
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
