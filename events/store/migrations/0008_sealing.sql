-- Sealed payloads. A payload is encrypted under a key of its event. That key is derived from the key of its subject and
-- from a salt of the event. The log is immutable, and these two tables are not: whoever destroys a key erases every
-- payload of a user, and whoever destroys a salt erases one payload. Both tables are backed up apart from the log.
CREATE SCHEMA sealing;

-- The data key of each subject, wrapped by a key-encryption key that the database never sees: the id of that key
-- (8 bytes), a nonce (12 bytes), the encrypted key (32 bytes) and its authentication (16 bytes). A key management
-- service may wrap keys in its own form.
CREATE TABLE sealing.subject_keys (
    user_id text COLLATE "C" PRIMARY KEY,
    wrapped bytea NOT NULL CHECK (octet_length(wrapped) BETWEEN 40 AND 4096)
);

CREATE TABLE sealing.salts (
    partition  smallint NOT NULL,
    "position" bigint NOT NULL,
    user_id    text NOT NULL COLLATE "C",
    salt       bytea NOT NULL CHECK (octet_length(salt) = 16),
    PRIMARY KEY (partition, "position")
);

-- Appends sealed events with their salts, in one transaction. `users` are the distinct subjects, `wrapped` the keys that
-- sealed their events, and `fresh` says which of these keys were made just now. `subjects` has the index in `users` of each
-- event of the batch, and `salts` has the salts of all events one after the other. Returns no row, and appends nothing, when another key is in force for a subject: the key was
-- destroyed or made by somebody else meanwhile. The caller then seals again.
CREATE FUNCTION sealing.append(
    batch json, partitions smallint[], subjects integer[], salts bytea, users text[], wrapped bytea[], fresh boolean[]
)
RETURNS TABLE (ordinal bigint, partition smallint, "position" bigint, version bigint, recorded_at timestamptz,
               duplicate boolean)
LANGUAGE plpgsql
-- The rights of the owner, as log.append has them: an appender adds keys and salts, and changes none.
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
SET enable_seqscan = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
BEGIN
    -- The locks of log.append, taken before the look at the keys. The destruction of a key waits for them.
    PERFORM FROM log.heads h WHERE h.partition = ANY (partitions) ORDER BY h.partition FOR UPDATE;

    IF true = ANY (fresh) THEN
        INSERT INTO sealing.subject_keys (user_id, wrapped)
        SELECT k.user_id, k.wrapped FROM unnest(users, wrapped, fresh) AS k(user_id, wrapped, fresh)
        WHERE k.fresh
        ON CONFLICT (user_id) DO NOTHING;
    END IF;
    IF EXISTS (
        SELECT FROM unnest(users, wrapped) AS k(user_id, wrapped)
        -- A scalar query looks up each key by itself. A join would read every key of the table.
        WHERE k.wrapped IS DISTINCT FROM (SELECT s.wrapped FROM sealing.subject_keys s WHERE s.user_id = k.user_id)
    ) THEN
        RETURN;
    END IF;

    RETURN QUERY
    WITH appended AS MATERIALIZED (
        SELECT * FROM log.append(batch)
    ), salted AS (
        INSERT INTO sealing.salts (partition, position, user_id, salt)
        -- Two arrays of texts, joined by number, took five times as long.
        SELECT a.partition, a.position, users[subjects[a.ordinal]], substring(salts, (a.ordinal * 16 - 15)::integer, 16)
        FROM appended a
        WHERE NOT a.duplicate
    )
    SELECT a.ordinal, a.partition, a.position, a.version, a.recorded_at, a.duplicate FROM appended a ORDER BY a.ordinal;
END $$;

-- The payload as text. A sealed payload is followed by two further lines: the salt of its event and the wrapped key of its
-- subject, in hexadecimal. A line is empty when the salt or the key was destroyed.
CREATE FUNCTION sealing.readable(user_id text, partition smallint, "position" bigint, data json) RETURNS text
LANGUAGE plpgsql STABLE STRICT PARALLEL SAFE
AS $$
BEGIN
    IF NOT starts_with(data::text, '{"sealed":"') THEN
        RETURN data::text;
    END IF;
    RETURN concat(
        data, E'\n',
        (SELECT encode(s.salt, 'hex') FROM sealing.salts s
         WHERE s.partition = readable.partition AND s.position = readable.position),
        E'\n',
        (SELECT encode(k.wrapped, 'hex') FROM sealing.subject_keys k WHERE k.user_id = readable.user_id));
END $$;

-- Destroys the key of a subject and the salts of its events. Returns the number of sealed events that nobody can open
-- after the commit. The lock lets appends under the old key end first.
CREATE FUNCTION sealing.destroy_subject(subject text) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    home smallint := (get_byte(sha256(convert_to(subject, 'UTF8')), 0) & 63)::smallint;
    destroyed bigint;
BEGIN
    PERFORM FROM log.heads h WHERE h.partition = home FOR UPDATE;
    DELETE FROM sealing.subject_keys k WHERE k.user_id = subject;
    DELETE FROM sealing.salts s USING log.events e
    WHERE e.partition = home AND e.user_id = subject AND s.partition = home AND s.position = e.position;
    GET DIAGNOSTICS destroyed = ROW_COUNT;
    RETURN destroyed;
END $$;

-- Destroys the salts of single events of a subject. Returns their number.
CREATE FUNCTION sealing.destroy_events(subject text, event_ids uuid[]) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    home smallint := (get_byte(sha256(convert_to(subject, 'UTF8')), 0) & 63)::smallint;
    destroyed bigint;
BEGIN
    DELETE FROM sealing.salts s USING log.events e
    WHERE e.partition = home AND e.user_id = subject AND e.event_id = ANY (event_ids)
      AND s.partition = home AND s.position = e.position;
    GET DIAGNOSTICS destroyed = ROW_COUNT;
    RETURN destroyed;
END $$;

-- Replaces wrapped keys after a change of the key-encryption key. A key that was destroyed meanwhile stays destroyed.
CREATE FUNCTION sealing.rewrap(users text[], before bytea[], after bytea[]) RETURNS bigint
LANGUAGE plpgsql
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
AS $$
DECLARE
    changed bigint;
BEGIN
    UPDATE sealing.subject_keys k SET wrapped = w.after
    FROM unnest(users, before, after) AS w(user_id, before, after)
    WHERE k.user_id = w.user_id AND k.wrapped = w.before;
    GET DIAGNOSTICS changed = ROW_COUNT;
    RETURN changed;
END $$;

-- PostgreSQL allows every role to call a new function. These functions need a grant.
REVOKE ALL ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION sealing.destroy_subject(text) FROM PUBLIC;
REVOKE ALL ON FUNCTION sealing.destroy_events(text, uuid[]) FROM PUBLIC;
REVOKE ALL ON FUNCTION sealing.rewrap(text[], bytea[], bytea[]) FROM PUBLIC;
