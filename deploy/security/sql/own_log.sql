-- The log belongs to a role that nobody logs in as. Every process gets its rights anew, so the script can be repeated, and
-- must be after an upgrade. Members of the role of readers may read the folded tables of every generation, and members of
-- the role of projectors may fold into them.
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {owner_name}) THEN
        CREATE ROLE {owner} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {readers_name}) THEN
        CREATE ROLE {readers} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {projectors_name}) THEN
        CREATE ROLE {projectors} NOLOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS;
    END IF;
    IF NOT (SELECT rolsuper FROM pg_roles WHERE rolname = current_user) THEN
        -- PostgreSQL allows a change of owner only to a member of both roles.
        EXECUTE format('GRANT %I, %I TO %I', {owner_name}, {role_name}, current_user);
    END IF;
END $$;

REVOKE {owner}, {readers}, {projectors} FROM {role};
DO $$
DECLARE
    it record;
    ours CONSTANT oid[] := ARRAY['log'::regnamespace, 'sealing'::regnamespace, 'access'::regnamespace,
                                 'erasure'::regnamespace, 'audit'::regnamespace];
BEGIN
    FOR it IN SELECT nspname AS name FROM pg_namespace n
              WHERE n.oid = ANY (ours) AND n.nspowner <> (SELECT oid FROM pg_roles WHERE rolname = {owner_name}) LOOP
        EXECUTE format('ALTER SCHEMA %I OWNER TO %I', it.name, {owner_name});
    END LOOP;
    FOR it IN SELECT c.oid::regclass AS name FROM pg_class c
              WHERE c.relnamespace = ANY (ours) AND c.relkind IN ('r', 'p', 'v') AND NOT c.relispartition
                AND c.relowner <> (SELECT oid FROM pg_roles WHERE rolname = {owner_name}) LOOP
        EXECUTE format('ALTER TABLE %s OWNER TO %I', it.name, {owner_name});
    END LOOP;
    FOR it IN SELECT p.oid::regprocedure AS name FROM pg_proc p
              WHERE p.pronamespace = ANY (ours)
                AND p.proowner <> (SELECT oid FROM pg_roles WHERE rolname = {owner_name}) LOOP
        EXECUTE format('ALTER ROUTINE %s OWNER TO %I', it.name, {owner_name});
    END LOOP;
END $$;

REVOKE ALL ON SCHEMA log, sealing, access, erasure, audit FROM PUBLIC, {role};
REVOKE ALL ON ALL TABLES IN SCHEMA log, sealing, access, erasure, audit FROM PUBLIC, {role};
REVOKE ALL ON ALL ROUTINES IN SCHEMA log, sealing, access, erasure, audit FROM {role};
REVOKE ALL ON DATABASE {database} FROM {role};
REVOKE CREATE ON SCHEMA public FROM PUBLIC, {role};
GRANT CONNECT ON DATABASE {database} TO {role};
GRANT CREATE ON DATABASE {database} TO {owner};
GRANT USAGE ON SCHEMA log, sealing, erasure TO {role};
-- Every process refuses the words of an erased subject. The tombstones hold no words.
GRANT SELECT ON erasure.tombstones TO {role};
GRANT SELECT ON log.migrations, log.heads, log.checkpoints, log.generations, log.heartbeats TO {role};
