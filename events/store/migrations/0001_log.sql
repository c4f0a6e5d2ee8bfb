-- The log, its checkpoints and its guards. Card tables are not here: projections are rebuilt, never migrated.

CREATE TABLE log.heads (
    partition   smallint PRIMARY KEY CHECK (partition BETWEEN 0 AND 63),
    position    bigint NOT NULL DEFAULT 0,
    digest      bytea NOT NULL DEFAULT sha256(''),
    recorded_at timestamptz NOT NULL DEFAULT '-infinity'
) WITH (fillfactor = 10); -- one hot row a page or so: 64 writers never share a page's HOT space

INSERT INTO log.heads (partition) SELECT generate_series(0, 63);

CREATE TABLE log.events (
    partition      smallint NOT NULL,
    position       bigint NOT NULL,
    event_id       uuid NOT NULL,
    user_id        text NOT NULL COLLATE "C",
    stream         text NOT NULL COLLATE "C",
    version        bigint NOT NULL,
    type           text NOT NULL COLLATE "C",
    schema_version smallint NOT NULL,
    dedupe_key     text COLLATE "C",
    occurred_at    timestamptz NOT NULL,
    recorded_at    timestamptz NOT NULL,
    actor          text NOT NULL,
    causation_id   uuid,
    correlation_id uuid,
    -- The type is json, because the digest covers the stored text. jsonb would change the text.
    data           json NOT NULL,
    digest         bytea NOT NULL,
    PRIMARY KEY (partition, position),
    UNIQUE (partition, user_id, stream, version)
);

-- The index is partial, because most events have no key. The event that caused them protects them.
CREATE UNIQUE INDEX events_dedupe_key ON log.events (partition, user_id, dedupe_key) WHERE dedupe_key IS NOT NULL;

-- Every status counts the failed extractions, so they have an index of their own.
CREATE INDEX events_extraction_failed ON log.events (partition, position) WHERE type = 'ExtractionFailed';

CREATE FUNCTION log.refuse_change() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    RAISE EXCEPTION 'log.events is append-only: % is refused', TG_OP
        USING HINT = 'Append a new event that corrects the old one.', ERRCODE = 'integrity_constraint_violation';
END $$;

CREATE TRIGGER events_append_only BEFORE UPDATE OR DELETE OR TRUNCATE ON log.events
    FOR EACH STATEMENT EXECUTE FUNCTION log.refuse_change();

-- The bytes that a digest covers: every column but the digest as a JSON array, in order, then the payload as stored.
-- Times are microseconds since 1970, so no session setting changes them.
CREATE FUNCTION log.canonical(
    partition smallint, "position" bigint, event_id uuid, user_id text, stream text, version bigint, type text,
    schema_version smallint, dedupe_key text, occurred_at timestamptz, recorded_at timestamptz, actor text,
    causation_id uuid, correlation_id uuid, data json
) RETURNS bytea LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN convert_to(
    json_build_array(
        partition, "position", event_id, user_id, stream, version, type, schema_version, dedupe_key,
        (extract(epoch FROM occurred_at) * 1000000)::bigint, (extract(epoch FROM recorded_at) * 1000000)::bigint,
        actor, causation_id, correlation_id
    )::text || data::text, 'UTF8');

CREATE FUNCTION log.chain_step(state bytea, content bytea, seed bytea) RETURNS bytea
    LANGUAGE sql IMMUTABLE PARALLEL SAFE
RETURN sha256(coalesce(state, seed) || sha256(content));

-- digest of event n = sha256(digest of event n-1 || sha256(canonical bytes of n)); the seed is the head's digest.
CREATE AGGREGATE log.chain(content bytea, seed bytea) (sfunc = log.chain_step, stype = bytea);

CREATE FUNCTION log.append(batch json)
RETURNS TABLE (ordinal bigint, partition smallint, "position" bigint, version bigint, recorded_at timestamptz,
               duplicate boolean)
LANGUAGE plpgsql
-- The look-ups below always use the unique indexes. The statistics of a small new table could choose a scan, and that
-- cached plan would stay while the log grows.
SET enable_seqscan = off
-- Items are joined by hashing. The planner expects few rows in a batch, and a nested loop over 2,000 items took two
-- thirds of the time.
SET enable_nestloop = off
SET plan_cache_mode = force_generic_plan
AS $$
#variable_conflict use_column
DECLARE
    conflict record;
BEGIN
    -- The locks are taken in the order of the partitions, so two batches cannot deadlock.
    -- Under READ COMMITTED the next statement has a snapshot from after the locks.
    PERFORM FROM log.heads h
    WHERE h.partition IN (SELECT (item->>'partition')::smallint FROM json_array_elements(batch) item)
    ORDER BY h.partition FOR UPDATE;

    -- No other session can append to these partitions until the transaction ends. The server ends the session of an
    -- appender that falls silent now, for instance a stopped process. Another appender repeats its work.
    PERFORM set_config('idle_in_transaction_session_timeout', '5s', true);

    SELECT item.user_id, item.stream, item.expected_version, base.version INTO conflict
    FROM json_to_recordset(batch) AS item(partition smallint, user_id text, stream text, expected_version bigint)
    CROSS JOIN LATERAL (SELECT coalesce((
        SELECT e.version FROM log.events e
        WHERE e.partition = item.partition AND e.user_id = item.user_id AND e.stream = item.stream
        ORDER BY e.version DESC LIMIT 1), 0) AS version) base
    WHERE item.expected_version <> base.version
    LIMIT 1;
    IF FOUND THEN
        RAISE EXCEPTION 'stream % of user % is at version %, not at the expected %',
            conflict.stream, conflict.user_id, conflict.version, conflict.expected_version
            USING ERRCODE = 'serialization_failure';
    END IF;

    RETURN QUERY
    WITH item AS MATERIALIZED (
        SELECT i.*, row_number() OVER (
                   PARTITION BY i.partition, i.user_id, i.dedupe_key ORDER BY i.ordinal) AS occurrence
        FROM ROWS FROM (json_to_recordset(batch) AS (
            partition smallint, event_id uuid, user_id text, stream text, type text, schema_version smallint,
            dedupe_key text, occurred_at timestamptz, actor text, causation_id uuid, correlation_id uuid, data json
        )) WITH ORDINALITY AS i(partition, event_id, user_id, stream, type, schema_version, dedupe_key, occurred_at,
                                actor, causation_id, correlation_id, data, ordinal)
    ), known AS MATERIALIZED (
        SELECT item.ordinal, item.event_id, e.position, e.version, e.recorded_at
        FROM item LEFT JOIN LATERAL (
            SELECT e.position, e.version, e.recorded_at FROM log.events e
            WHERE e.partition = item.partition AND e.user_id = item.user_id AND e.dedupe_key = item.dedupe_key
            LIMIT 1) e ON true
        WHERE item.dedupe_key IS NOT NULL AND (item.occurrence > 1 OR e.position IS NOT NULL)
    ), fresh AS (
        -- The consequences of a duplicate in this batch are dropped with it, so a repeated batch repeats nothing.
        SELECT item.* FROM item
        WHERE NOT EXISTS (SELECT FROM known WHERE known.ordinal = item.ordinal)
          AND (item.causation_id IS NULL
               OR item.causation_id NOT IN (SELECT event_id FROM known))
    ), stream_base AS (
        SELECT s.partition, s.user_id, s.stream, coalesce(
            (SELECT e.version FROM log.events e
             WHERE e.partition = s.partition AND e.user_id = s.user_id AND e.stream = s.stream
             ORDER BY e.version DESC LIMIT 1), 0) AS version
        FROM (SELECT DISTINCT partition, user_id, stream FROM fresh) s
    ), numbered AS (
        SELECT f.*, h.digest AS seed,
               h.position + row_number() OVER (PARTITION BY f.partition ORDER BY f.ordinal) AS position,
               b.version + row_number() OVER (
                   PARTITION BY f.partition, f.user_id, f.stream ORDER BY f.ordinal) AS version,
               greatest(h.recorded_at, statement_timestamp()) AS recorded_at
        FROM fresh f
        JOIN log.heads h USING (partition)
        JOIN stream_base b USING (partition, user_id, stream)
    ), inserted AS (
        INSERT INTO log.events (partition, position, event_id, user_id, stream, version, type, schema_version,
                                dedupe_key, occurred_at, recorded_at, actor, causation_id, correlation_id, data, digest)
        SELECT n.partition, n.position, n.event_id, n.user_id, n.stream, n.version, n.type, n.schema_version,
               n.dedupe_key, n.occurred_at, n.recorded_at, n.actor, n.causation_id, n.correlation_id, n.data,
               log.chain(log.canonical(n.partition, n.position, n.event_id, n.user_id, n.stream, n.version, n.type,
                                       n.schema_version, n.dedupe_key, n.occurred_at, n.recorded_at, n.actor,
                                       n.causation_id, n.correlation_id, n.data), n.seed)
                   OVER (PARTITION BY n.partition ORDER BY n.position)
        FROM numbered n
        RETURNING partition, position, version, recorded_at, digest, event_id
    ), advanced AS (
        UPDATE log.heads h SET position = last.position, digest = last.digest, recorded_at = last.recorded_at
        FROM (SELECT DISTINCT ON (partition) * FROM inserted ORDER BY partition, position DESC) last
        WHERE h.partition = last.partition
    )
    SELECT item.ordinal, item.partition, coalesce(n.position, known.position), coalesce(n.version, known.version),
           coalesce(n.recorded_at, known.recorded_at), n.position IS NULL
    FROM item
    LEFT JOIN numbered n ON n.ordinal = item.ordinal
    LEFT JOIN known ON known.ordinal = item.ordinal
    ORDER BY item.ordinal;
END $$;

-- The checkpoints of each processor, one row a partition. Compare-and-swap moves them in the transaction of the work.
CREATE TABLE log.checkpoints (
    processor  text NOT NULL,
    generation integer NOT NULL,
    partition  smallint NOT NULL,
    position   bigint NOT NULL DEFAULT 0,
    moved_at   timestamptz,
    PRIMARY KEY (processor, generation, partition)
) WITH (fillfactor = 10);

-- The generations of every projection. The tables of the live generation are in the schema of the projection's name.
CREATE TABLE log.generations (
    projection text NOT NULL,
    generation integer NOT NULL,
    status     text NOT NULL CHECK (status IN ('building', 'live', 'retired')),
    created_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    live_at    timestamptz,
    PRIMARY KEY (projection, generation)
);
CREATE UNIQUE INDEX generations_one_live ON log.generations (projection) WHERE status = 'live';

-- Parked events, which a live processor could not fold. Later events of the user wait behind them, in order, and have
-- no reason. The rows belong to the checkpoint that passed them, because another generation may have folded the events.
-- When a generation is dropped, its checkpoints take these rows with them.
CREATE TABLE log.parked (
    processor  text NOT NULL,
    generation integer NOT NULL,
    partition  smallint NOT NULL,
    user_id    text NOT NULL COLLATE "C",
    position   bigint NOT NULL,
    event_id   uuid NOT NULL,
    reason     text,
    parked_at  timestamptz NOT NULL DEFAULT clock_timestamp(),
    attempts   integer NOT NULL DEFAULT 0,
    PRIMARY KEY (processor, user_id, generation, partition, position),
    FOREIGN KEY (processor, generation, partition) REFERENCES log.checkpoints ON DELETE CASCADE
);

-- Parked events that an operator dropped for a projection. No generation folds them, also after a rebuild.
CREATE TABLE log.dropped (
    processor  text NOT NULL,
    partition  smallint NOT NULL,
    user_id    text NOT NULL COLLATE "C",
    position   bigint NOT NULL,
    event_id   uuid NOT NULL,
    reason     text,
    because    text NOT NULL,
    attempts   integer NOT NULL,
    parked_at  timestamptz NOT NULL,
    dropped_at timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (processor, user_id, partition, position)
);

-- The heartbeat of each worker. The worker writes its row every few seconds, and the status reads the rows.
CREATE TABLE log.heartbeats (
    stage      text NOT NULL,
    worker     text NOT NULL,
    pid        integer NOT NULL,
    state      text NOT NULL CHECK (state IN ('running', 'waiting', 'stopped')),
    detail     text,
    error      text,
    error_at   timestamptz,
    done       bigint NOT NULL,
    rate       double precision,
    moved_at   timestamptz,
    seen_at    timestamptz NOT NULL DEFAULT clock_timestamp(),
    PRIMARY KEY (stage, worker, pid)
);
