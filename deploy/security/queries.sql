-- name: create_role
DO $$
BEGIN
    IF NOT EXISTS (SELECT FROM pg_roles WHERE rolname = {role_name}) THEN
        CREATE ROLE {role};
    END IF;
    -- Nobody guesses the random password, and every new connection would count its iterations. PostgreSQL 15 has no
    -- such setting.
    IF current_setting('scram_iterations', true) IS NOT NULL THEN
        PERFORM set_config('scram_iterations', '1', true);
    END IF;
END $$;
ALTER ROLE {role} LOGIN NOSUPERUSER NOCREATEDB NOCREATEROLE NOREPLICATION NOBYPASSRLS PASSWORD {password};

-- name: own_log
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

-- name: own_tables
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

-- name: grant_admin
-- Migrates, imports and repairs: a member of the owner of the log and of the folded tables.
GRANT CREATE, TEMPORARY ON DATABASE {database} TO {role};
GRANT {owner}, {readers}, {projectors} TO {role};

-- name: grant_projector
-- Folds the log of all tenants into tables that belong to the owner of the log. It appends nothing.
GRANT TEMPORARY ON DATABASE {database} TO {role};
GRANT EXECUTE ON FUNCTION log.may_see_every_tenant(), log.run_step(text, text, integer), log.make_tables(text),
    log.protect_tables(text), log.rename_tables(text, text), log.drop_tables(text) TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT SELECT, UPDATE, DELETE ON log.operations TO {role};
GRANT SELECT, DELETE ON log.card_use, log.answer_use TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE
    ON log.checkpoints, log.generations, log.parked, log.dropped, log.heartbeats, log.reference_use TO {role};
GRANT {projectors} TO {role};

-- name: grant_curator
-- Reads as the reader does, and appends commands, one tenant at a time. It destroys the keys of erased words. The rows
-- that were folded from these words belong to the projector: only a role with both sets of rights erases all of a user.
GRANT EXECUTE ON FUNCTION log.append(json), log.append_additive(json), log.key_of_tokens(text) TO {role};
GRANT SELECT ON log.events, log.parked, sealing.subject_keys, sealing.salts TO {role};
GRANT USAGE ON SCHEMA access, audit TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA access, audit TO {role};
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA audit TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA erasure TO {role};
GRANT SELECT, DELETE ON log.reference_use TO {role};
GRANT SELECT ON log.deliveries TO {role};
GRANT SELECT, INSERT ON log.operations TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]),
    sealing.append_additive(json, smallint[], integer[], bytea, text[], bytea[], boolean[]),
    sealing.destroy_subject(text), sealing.destroy_events(text, uuid[]) TO {role};
GRANT {readers} TO {role};

-- name: grant_agent
-- Reads the log and the folded tables of all tenants, and appends only what adds (see 0017_additive.sql). It also
-- keeps the messages to webhooks. It has no right on
-- log.append, so it cannot append another event.
GRANT EXECUTE ON FUNCTION log.append_additive(json), log.may_see_every_tenant() TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON log.deliveries TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT INSERT, UPDATE ON log.checkpoints TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION
    sealing.append_additive(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};
GRANT {readers} TO {role};

-- name: grant_extractor
-- Reads the log of all tenants and appends what it understood. It reads no folded table and no key.
GRANT EXECUTE ON FUNCTION log.append(json), log.may_see_every_tenant() TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT INSERT, UPDATE ON log.checkpoints TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};

-- name: grant_reader
-- Reads the log and the folded tables, one tenant at a time. It changes nothing. It checks API keys, and appends to the
-- audit log.
GRANT SELECT ON log.events, log.parked, sealing.subject_keys, sealing.salts TO {role};
GRANT USAGE ON SCHEMA access, audit TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA access, audit TO {role};
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA audit TO {role};
GRANT EXECUTE ON FUNCTION access.use_link(bytea) TO {role};
GRANT EXECUTE ON FUNCTION log.key_of_tokens(text) TO {role};
-- It counts reads of references and of cards.
GRANT SELECT, INSERT, UPDATE ON log.reference_use, log.card_use, log.answer_use TO {role};
GRANT DELETE ON log.answer_use TO {role};
GRANT SELECT ON log.operations TO {role};
GRANT {readers} TO {role};

-- name: grant_recorder
-- Appends turns of all tenants. It reads no event.
GRANT EXECUTE ON FUNCTION log.append(json), log.key_of_tokens(text), log.may_see_every_tenant() TO {role};
GRANT SELECT ON sealing.subject_keys TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};

-- name: find_role
SELECT rolsuper, rolbypassrls, rolname = current_user FROM pg_roles WHERE rolname = %(role)s;

-- name: role_rights
-- The rights of a role on the log, its own rights and the rights of the roles that it is a member of.
SELECT r.rolsuper, r.rolcreaterole, r.rolcanlogin, current_user = r.rolname AS is_ours,
       pg_has_role(r.oid, c.relowner, 'MEMBER') AS owns,
       has_table_privilege(r.oid, c.oid, 'INSERT') OR has_table_privilege(r.oid, c.oid, 'UPDATE')
           OR has_table_privilege(r.oid, c.oid, 'DELETE') OR has_table_privilege(r.oid, c.oid, 'TRUNCATE')
           OR has_table_privilege(r.oid, 'log.heads', 'INSERT') OR has_table_privilege(r.oid, 'log.heads', 'UPDATE')
           OR has_table_privilege(r.oid, 'log.heads', 'DELETE') OR has_table_privilege(r.oid, 'log.heads', 'TRUNCATE')
           OR has_schema_privilege(r.oid, 'log', 'CREATE') AS may_change
FROM pg_roles r, pg_class c
WHERE r.rolname = coalesce(%(role)s::text, current_user) AND c.oid = 'log.events'::regclass;

-- name: tenant_limits
-- True when the role ignores row-level security, and true when searches under a policy may use their indexes.
SELECT r.rolsuper OR r.rolbypassrls,
       (SELECT bool_and(proleakproof) FROM pg_proc WHERE oid IN ('arrayoverlap'::regproc, 'arraycontains'::regproc))
FROM pg_roles r WHERE r.rolname = current_user;

-- name: unprotected_tables
-- The tables and views with a user that have no row-level security, or not for their owner, or not both policies. Tables of
-- a generation that is being built are not read yet.
SELECT c.oid::regclass::text
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_temp%'
  AND n.nspname NOT IN (SELECT projection || '_g' || generation FROM log.generations WHERE status = 'building')
  AND CASE c.relkind
          WHEN 'v' THEN NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
          ELSE c.relkind IN ('r', 'p', 'm') AND NOT (
              c.relrowsecurity AND c.relforcerowsecurity
              AND 2 = (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname IN ('tenant', 'every_tenant'))
              AND 2 = (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)) END
ORDER BY 1;

-- name: sign_tenants
INSERT INTO log.tenant_key (inner_pad, outer_pad) VALUES (%(inner)s, %(outer)s)
ON CONFLICT (singleton) DO UPDATE SET inner_pad = excluded.inner_pad, outer_pad = excluded.outer_pad
WHERE tenant_key.inner_pad <> excluded.inner_pad;
