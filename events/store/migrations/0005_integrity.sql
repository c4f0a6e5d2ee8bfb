-- A key that the database never sees proves who appended an event.

-- The id of the key (8 bytes), then the HMAC-SHA-256 over the columns that the appender decides (32 bytes). No digest
-- covers this column: a digest proves the content of the log, and the HMAC proves a holder of the key.
ALTER TABLE log.events ADD COLUMN mac bytea;

-- The function of 0001 with the new column and with the rights of the owner: see `cardlog grant`.
CREATE OR REPLACE FUNCTION log.append(batch json)
RETURNS TABLE (ordinal bigint, partition smallint, "position" bigint, version bigint, recorded_at timestamptz,
               duplicate boolean)
LANGUAGE plpgsql
-- The function runs as the owner of the log, so appenders need no right on its tables. It ignores the search path of
-- the caller.
SECURITY DEFINER
SET search_path = pg_catalog, pg_temp
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
            dedupe_key text, occurred_at timestamptz, actor text, causation_id uuid, correlation_id uuid, data json,
            mac bytea
        )) WITH ORDINALITY AS i(partition, event_id, user_id, stream, type, schema_version, dedupe_key, occurred_at,
                                actor, causation_id, correlation_id, data, mac, ordinal)
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
                                dedupe_key, occurred_at, recorded_at, actor, causation_id, correlation_id, data, mac,
                                digest)
        SELECT n.partition, n.position, n.event_id, n.user_id, n.stream, n.version, n.type, n.schema_version,
               n.dedupe_key, n.occurred_at, n.recorded_at, n.actor, n.causation_id, n.correlation_id, n.data, n.mac,
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

-- PostgreSQL allows every role to call a new function. This function needs a grant.
REVOKE ALL ON FUNCTION log.append(json) FROM PUBLIC;

-- The function of 0003 with the new column for events that have one.
CREATE OR REPLACE FUNCTION log.line(e log.events) RETURNS text LANGUAGE sql STABLE PARALLEL SAFE
RETURN concat(
    '{"partition":', (e).partition, ',"position":', (e).position, ',"digest":"', encode((e).digest, 'hex'),
    '","event_id":"', (e).event_id, '","user_id":', to_json((e).user_id), ',"stream":', to_json((e).stream),
    ',"version":', (e).version, ',"type":', to_json((e).type), ',"schema_version":', (e).schema_version,
    ',"dedupe_key":', coalesce(to_json((e).dedupe_key)::text, 'null'),
    ',"occurred_at":', to_json((e).occurred_at), ',"recorded_at":', to_json((e).recorded_at),
    ',"actor":', to_json((e).actor),
    ',"causation_id":', coalesce(to_json((e).causation_id)::text, 'null'),
    ',"correlation_id":', coalesce(to_json((e).correlation_id)::text, 'null'),
    CASE WHEN (e).mac IS NOT NULL THEN ',"mac":"' || encode((e).mac, 'hex') || '"' END,
    CASE WHEN strpos((e).data::text, E'\n') > 0 THEN ',"text":' || to_json((e).data::text)
         ELSE ',"data":' || (e).data::text END,
    '}');
