-- The role of workers and services owns nothing. The tables of a generation belong to the owner of the log, so an owner who
-- reads them evaluates nothing that another role wrote. A worker asks for them by the functions below, which run only
-- scripts that the owner stored.

-- The scripts that make and complete the tables of each projection. Only an owner writes them.
CREATE TABLE log.blueprints (
    projection text COLLATE "C" NOT NULL,
    kind       text COLLATE "C" NOT NULL CHECK (kind IN ('tables', 'indexes', 'statistics')),
    step       smallint NOT NULL,
    script     text NOT NULL,
    PRIMARY KEY (projection, kind, step)
);
REVOKE ALL ON log.blueprints FROM PUBLIC;

-- The projection whose tables may stand in a schema, or null. Rows of log.generations say nothing about it, because
-- workers write them.
CREATE FUNCTION log.projection_of(folded text) RETURNS text LANGUAGE sql STABLE
RETURN (SELECT b.projection FROM log.blueprints b
        WHERE folded = b.projection OR folded ~ ('^' || b.projection || '_g[0-9]+(_scratch)?$') LIMIT 1);

-- Lets the members of cardlog_projectors fold into the tables of a schema. `cardlog grant` makes that role.
CREATE FUNCTION log.let_fold(folded text) RETURNS void LANGUAGE plpgsql AS $$
DECLARE
    name text;
BEGIN
    IF NOT EXISTS (SELECT FROM pg_catalog.pg_roles WHERE rolname = 'cardlog_projectors') THEN
        RETURN;
    END IF;
    FOREACH name IN ARRAY ARRAY[folded, 'vector_cache'] LOOP
        CONTINUE WHEN pg_catalog.to_regnamespace(name) IS NULL;
        EXECUTE format('GRANT USAGE ON SCHEMA %I TO cardlog_projectors', name);
        EXECUTE format('GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA %I TO cardlog_projectors', name);
    END LOOP;
END $$;

-- Runs one stored script in a schema.
CREATE FUNCTION log.run_step(folded text, wanted text, number integer) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    found_script text;
BEGIN
    SELECT b.script INTO found_script FROM log.blueprints b
    WHERE b.projection = log.projection_of(folded) AND b.kind = wanted AND b.step = number;
    IF NOT FOUND THEN
        RAISE EXCEPTION 'there is no blueprint of the tables in %: run `cardlog grant` with CARDLOG_ADMIN_DATABASE_URL', folded
            USING ERRCODE = 'undefined_object';
    END IF;
    PERFORM set_config('search_path', format('%I, public, pg_temp', folded), true);
    EXECUTE found_script;
    IF wanted = 'tables' THEN
        PERFORM log.let_fold(folded);
        -- A table that is added to a protected generation is protected, too.
        IF EXISTS (SELECT FROM pg_class WHERE relnamespace = to_regnamespace(quote_ident(folded)) AND relforcerowsecurity) THEN
            PERFORM log.protect_tables(folded);
            PERFORM log.let_read(folded);
        END IF;
    END IF;
END $$;

-- Makes a schema with the empty tables of its projection.
CREATE FUNCTION log.make_tables(folded text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    steps integer := (SELECT count(*) FROM log.blueprints b
                      WHERE b.projection = log.projection_of(folded) AND b.kind = 'tables');
BEGIN
    EXECUTE format('CREATE SCHEMA %I', folded);
    FOR number IN 0 .. greatest(steps - 1, 0) LOOP -- without a blueprint the first step says so
        PERFORM log.run_step(folded, 'tables', number);
    END LOOP;
END $$;

-- Protects the tables and views with a user that are not protected yet, and lets readers read. The partitions of a table
-- have policies of their own.
CREATE FUNCTION log.protect_tables(folded text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    PERFORM log.protect(c.oid::regclass)
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
    WHERE log.projection_of(folded) IS NOT NULL AND c.relnamespace = to_regnamespace(quote_ident(folded))
      AND (c.relkind IN ('r', 'p') AND NOT c.relforcerowsecurity
           OR c.relkind = 'v' AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false));
    IF FOUND THEN
        PERFORM log.let_read(folded);
    END IF;
END $$;

CREATE FUNCTION log.rename_tables(folded text, new_name text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF log.projection_of(folded) IS DISTINCT FROM log.projection_of(new_name) OR log.projection_of(folded) IS NULL THEN
        RAISE EXCEPTION '% and % are not schemas of one projection', folded, new_name
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('ALTER SCHEMA %I RENAME TO %I', folded, new_name);
END $$;

-- The live tables cannot be dropped.
CREATE FUNCTION log.drop_tables(folded text) RETURNS void
LANGUAGE plpgsql SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF coalesce(log.projection_of(folded), folded) = folded THEN
        RAISE EXCEPTION '% is no generation beside the live one', folded USING ERRCODE = 'insufficient_privilege';
    END IF;
    EXECUTE format('DROP SCHEMA IF EXISTS %I CASCADE', folded);
END $$;

REVOKE ALL ON FUNCTION log.let_fold(text), log.run_step(text, text, integer), log.make_tables(text),
    log.protect_tables(text), log.rename_tables(text, text), log.drop_tables(text) FROM PUBLIC;

-- The two halves of the key of an HMAC-SHA-256, which is derived from the log key. With them a session proves that it holds
-- the log key before it names a tenant. Without a row every session is believed: see `cardlog grant --signed-tenants`.
CREATE TABLE log.tenant_key (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    inner_pad bytea NOT NULL CHECK (octet_length(inner_pad) = 64),
    outer_pad bytea NOT NULL CHECK (octet_length(outer_pad) = 64)
);
REVOKE ALL ON log.tenant_key FROM PUBLIC;

-- The words of a claim "words proof" whose proof is right, else null.
CREATE FUNCTION log.vouched(claim text) RETURNS text
LANGUAGE plpgsql STABLE PARALLEL SAFE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
DECLARE
    words text := split_part(claim, ' ', 1);
    pads  log.tenant_key;
BEGIN
    SELECT * INTO pads FROM log.tenant_key;
    IF FOUND AND split_part(claim, ' ', 2) IS DISTINCT FROM
            encode(sha256(pads.outer_pad || sha256(pads.inner_pad || convert_to(words, 'UTF8'))), 'hex') THEN
        RETURN NULL;
    END IF;
    RETURN nullif(words, '');
END $$;

CREATE OR REPLACE FUNCTION log.tenant() RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN log.vouched(current_setting('cardlog.tenant', true));

-- The first condition spares a session of one tenant a second look at its proof.
CREATE OR REPLACE FUNCTION log.sees_every_tenant() RETURNS boolean LANGUAGE sql STABLE PARALLEL SAFE
RETURN CASE WHEN starts_with(current_setting('cardlog.tenant', true), '*') THEN
    log.tenant() = '*'
    AND has_function_privilege(current_user, 'log.may_see_every_tenant()', 'EXECUTE')
    AND has_function_privilege(session_user, 'log.may_see_every_tenant()', 'EXECUTE')
ELSE false END;

-- The key of tokens, for a session that proves that it holds the log key.
CREATE FUNCTION log.key_of_tokens(proof text) RETURNS bytea
LANGUAGE plpgsql STABLE SECURITY DEFINER SET search_path = pg_catalog, pg_temp AS $$
BEGIN
    IF log.vouched(proof) IS DISTINCT FROM '/tokens' THEN
        RAISE EXCEPTION 'the key of tokens needs the proof of a log key: set CARDLOG_LOG_KEY_FILE'
            USING ERRCODE = 'insufficient_privilege';
    END IF;
    RETURN (SELECT key FROM log.token_key);
END $$;
REVOKE ALL ON FUNCTION log.key_of_tokens(text) FROM PUBLIC;
