-- The audit log: who asked for whose memory, and the outcome. It never holds content.
CREATE SCHEMA audit;

-- The end of the chain of digests.
CREATE TABLE audit.head (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    position  bigint NOT NULL DEFAULT 0,
    digest    bytea NOT NULL DEFAULT sha256('')
) WITH (fillfactor = 10);
INSERT INTO audit.head DEFAULT VALUES;

CREATE TABLE audit.entries (
    position    bigint PRIMARY KEY,
    entry_id    uuid NOT NULL UNIQUE,
    request_id  uuid NOT NULL,
    at          timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    service     text NOT NULL COLLATE "C",
    tenant      text COLLATE "C",
    key_id      text COLLATE "C",
    scopes      text[] NOT NULL,
    operation   text NOT NULL COLLATE "C",
    method      text COLLATE "C",
    -- Keyed hashes of storage ids. A user can be looked up, and an exported audit log names nobody.
    subjects    text[] NOT NULL,
    outcome     text NOT NULL COLLATE "C"
                CHECK (outcome IN ('begun', 'allowed', 'denied', 'refused', 'failed', 'lost')),
    status      smallint,
    requests    integer NOT NULL CHECK (requests > 0),
    digest      bytea NOT NULL
);
CREATE INDEX entries_subjects ON audit.entries USING gin (subjects);
CREATE INDEX entries_recorded_at ON audit.entries (recorded_at);

-- The key of the hashes in `subjects`, with 244 random bits.
CREATE TABLE audit.subject_key (
    singleton boolean PRIMARY KEY DEFAULT true CHECK (singleton),
    key       bytea NOT NULL CHECK (octet_length(key) >= 32)
);
INSERT INTO audit.subject_key (key)
VALUES (decode(replace(gen_random_uuid()::text || gen_random_uuid()::text, '-', ''), 'hex'));
REVOKE ALL ON audit.subject_key FROM PUBLIC;

CREATE FUNCTION audit.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'audit.entries is append-only: % is refused', TG_OP
        USING ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER entries_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON audit.entries
    FOR EACH STATEMENT EXECUTE FUNCTION audit.refuse_change();

-- The bytes that a digest covers: every column but the digest, in order. Times are microseconds since 1970.
CREATE FUNCTION audit.canonical(e audit.entries) RETURNS bytea LANGUAGE sql STABLE PARALLEL SAFE
RETURN convert_to(
    json_build_array(
        (e).position, (e).entry_id, (e).request_id, (extract(epoch FROM (e).at) * 1000000)::bigint,
        (extract(epoch FROM (e).recorded_at) * 1000000)::bigint, (e).service, (e).tenant, (e).key_id,
        array_to_json((e).scopes), (e).operation, (e).method, array_to_json((e).subjects), (e).outcome, (e).status,
        (e).requests
    )::text, 'UTF8');

-- Appends a batch and returns the number of new entries. An entry that is there already is skipped, so a batch whose
-- commit is unknown can be repeated. Writers take turns at the head, so positions have no hole.
CREATE FUNCTION audit.append(batch json) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    item   audit.entries;
    last   audit.head;
    added  bigint := 0;
BEGIN
    SELECT * INTO last FROM audit.head FOR UPDATE;
    PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);
    FOR item IN SELECT * FROM json_populate_recordset(NULL::audit.entries, batch) LOOP
        CONTINUE WHEN EXISTS (SELECT FROM audit.entries e WHERE e.entry_id = item.entry_id);
        last.position := last.position + 1;
        item.position := last.position;
        item.recorded_at := statement_timestamp();
        item.digest := sha256(last.digest || sha256(audit.canonical(item)));
        last.digest := item.digest;
        INSERT INTO audit.entries SELECT item.*;
        added := added + 1;
    END LOOP;
    UPDATE audit.head SET position = last.position, digest = last.digest;
    RETURN added;
END $$;
REVOKE EXECUTE ON FUNCTION audit.append(json) FROM PUBLIC;
