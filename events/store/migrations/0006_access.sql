-- API keys. A key is stored as an HMAC under the secret of this database, so the rows alone open nothing. Rows are never
-- deleted: a revoked key stays as a record. The block does nothing when the schema exists, because `cardlog log verify`
-- runs every migration once more beside the tables.
DO $migration$
BEGIN
    IF to_regnamespace('access') IS NOT NULL THEN
        RETURN;
    END IF;
    CREATE SCHEMA access;
    -- A version 4 UUID has 122 random bits from the server's strong source, and two UUIDs make a key.
    CREATE TABLE access.secret (
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        secret bytea NOT NULL CHECK (octet_length(secret) >= 32)
    );
    INSERT INTO access.secret (secret)
    VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
    -- Counts the changes of keys. Every change locks this row, so the numbers are in the order of the commits.
    CREATE TABLE access.revision (
        singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
        number bigint NOT NULL
    );
    INSERT INTO access.revision (number) VALUES (0);
    CREATE TABLE access.api_keys (
        key_id text PRIMARY KEY CHECK (key_id ~ '^[a-z2-7]{16}$'),
        digest bytea NOT NULL CHECK (octet_length(digest) = 32),
        tenant text NOT NULL CHECK (tenant <> ''),
        name text NOT NULL,
        scopes text[] NOT NULL CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['push', 'read', 'write', 'admin']),
        users text[] CHECK (cardinality(users) > 0),
        projects text[] CHECK (cardinality(projects) > 0),
        modes text[] CHECK (cardinality(modes) > 0),
        created_at timestamptz NOT NULL DEFAULT now(),
        expires_at timestamptz,
        revoked_at timestamptz,
        replaces text REFERENCES access.api_keys,
        revision bigint NOT NULL
    );
    CREATE INDEX api_keys_by_revision ON access.api_keys (revision);
    REVOKE ALL ON ALL TABLES IN SCHEMA access FROM PUBLIC;
    CREATE FUNCTION access.announce_change() RETURNS trigger LANGUAGE plpgsql AS $function$
    BEGIN
        IF TG_OP = 'DELETE' THEN
            RAISE EXCEPTION 'API keys are revoked and not deleted';
        END IF;
        IF TG_OP = 'UPDATE' AND OLD.revoked_at IS NOT NULL THEN
            RAISE EXCEPTION 'the API key % is revoked for good', OLD.key_id;
        END IF;
        UPDATE access.revision SET number = number + 1 RETURNING number INTO NEW.revision;
        PERFORM pg_notify('cardlog_keys', '');
        RETURN NEW;
    END $function$;
    CREATE TRIGGER announce_change BEFORE INSERT OR UPDATE OR DELETE ON access.api_keys
        FOR EACH ROW EXECUTE FUNCTION access.announce_change();
END $migration$;
