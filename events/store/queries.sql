-- name: create_staged
CREATE TEMPORARY TABLE {staged} AS SELECT {columns} FROM {into} WITH NO DATA;

-- name: empty_staged
TRUNCATE {staged};

-- name: definitions
-- The guards of a log in the given schema, each as text: functions, triggers, columns, constraints, indexes, policies.
SELECT 'function ' || p.proname || '(' || pg_get_function_identity_arguments(p.oid) || ')' AS name,
       CASE p.prokind
           WHEN 'a' THEN concat_ws(' ', a.aggtransfn::text, a.aggfinalfn::text, a.aggtranstype::regtype, a.agginitval,
                                   a.aggkind::text, a.aggmtransfn::text)
           ELSE pg_get_functiondef(p.oid) END AS definition
FROM pg_proc p LEFT JOIN pg_aggregate a ON a.aggfnoid = p.oid
WHERE p.pronamespace = %(schema)s::text::regnamespace
UNION ALL
SELECT 'trigger ' || t.tgname || ' on ' || c.relname, pg_get_triggerdef(t.oid) || ' enabled ' || t.tgenabled::text
FROM pg_trigger t JOIN pg_class c ON c.oid = t.tgrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND NOT t.tgisinternal AND c.relname IN ('events', 'heads', 'entries', 'head')
UNION ALL
SELECT 'rule ' || r.rulename || ' on ' || c.relname, pg_get_ruledef(r.oid)
FROM pg_rewrite r JOIN pg_class c ON c.oid = r.ev_class
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relkind IN ('r', 'p')
UNION ALL
SELECT 'column ' || c.relname || '.' || a.attname,
       concat_ws(' ', format_type(a.atttypid, a.atttypmod), a.attcollation::regcollation, a.attnotnull,
                 pg_get_expr(d.adbin, d.adrelid))
FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid
LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'heads', 'entries', 'head') AND a.attnum > 0
  AND NOT a.attisdropped
UNION ALL
SELECT 'constraint ' || o.conname || ' on ' || c.relname, pg_get_constraintdef(o.oid)
FROM pg_constraint o JOIN pg_class c ON c.oid = o.conrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'heads', 'entries', 'head')
UNION ALL
SELECT 'index ' || i.relname, pg_get_indexdef(x.indexrelid) || CASE WHEN x.indisvalid THEN '' ELSE ' invalid' END
FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'entries')
UNION ALL
SELECT 'policy ' || p.policyname || ' on ' || p.tablename,
       concat_ws(' ', p.permissive, p.roles::text, p.cmd, p.qual, p.with_check)
FROM pg_policies p WHERE p.schemaname = %(schema)s::text
UNION ALL
SELECT 'row security of ' || c.relname, concat_ws(' ', c.relrowsecurity, c.relforcerowsecurity)
FROM pg_class c
WHERE c.relnamespace = %(schema)s::text::regnamespace AND c.relname IN ('events', 'parked', 'dropped');

-- name: digest_at
SELECT digest FROM log.events WHERE partition = %(partition)s AND position = %(position)s;

-- name: head_digests
SELECT partition, position, digest FROM log.heads ORDER BY partition;

-- name: heads
SELECT partition, position FROM log.heads ORDER BY partition;

-- name: authenticated_head
-- Whether the last event of a partition is authenticated. No row: none of them is.
SELECT true FROM log.heads h JOIN log.events e USING (partition, position) WHERE e.mac IS NOT NULL LIMIT 1;

-- name: progress
SELECT c.partition, c.position, h.position AS head
FROM log.checkpoints c JOIN log.heads h USING (partition)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s;

-- name: read_partition
SELECT {event events}, digest
FROM log.events
WHERE partition = %(partition)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s;

-- name: positions_of_user
SELECT position FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND position > %(after)s
  AND (%(up_to)s::bigint IS NULL OR position <= %(up_to)s)
  AND (%(types)s::text[] IS NULL OR type = ANY (%(types)s))
ORDER BY position;

-- name: events_of_user_at
-- The concatenation keeps a generic plan on the positions.
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND position = ANY (%(positions)s::bigint[]) AND user_id || '' = %(user_id)s
ORDER BY position;

-- name: event_of_key
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND dedupe_key = %(key)s;

-- name: stream_below
-- The latest events of a stream below a version.
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s
  AND version < coalesce(%(below)s::bigint, 9223372036854775807)
ORDER BY version DESC
LIMIT %(limit)s;

-- name: verify_macs
-- The columns that the HMAC of an event covers, the payload with what opens it, and the HMAC.
SELECT position, event_id, user_id, stream, type, schema_version, dedupe_key, occurred_at, actor, causation_id,
       correlation_id, {readable events} AS data, mac
FROM log.events
WHERE partition = %(partition)s AND position > %(after)s AND position <= %(last)s
ORDER BY position;

-- name: verify_repeated
-- The first event with the id of an earlier event of the partition: somebody appended a genuine event again.
SELECT min(position) FROM (
    SELECT position, lag(event_id) OVER (ORDER BY event_id, position) = event_id AS repeated
    FROM log.events WHERE partition = %(partition)s AND position <= %(head)s
) e WHERE repeated;

-- name: behind_head
-- Both values come from one snapshot, because an append moves the head together with its rows.
SELECT h.position, (SELECT max(e.position) FROM log.events e WHERE e.partition = h.partition)
FROM log.heads h WHERE h.partition = %(partition)s;

-- name: digests
SELECT position, digest FROM log.events
WHERE partition = %(partition)s AND position BETWEEN %(first)s AND %(last)s
ORDER BY position;

-- name: export_heads
SELECT partition, position, encode(digest, 'hex') FROM log.heads WHERE position > 0 ORDER BY partition;

-- name: export_partition
SELECT log.line(e) || E'\n'
FROM log.events e
WHERE e.partition = %(partition)s AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;

-- name: export_with_keys
SELECT log.line(e) || E'\n', encode(s.salt, 'hex'), encode(k.wrapped, 'hex')
FROM log.events e
LEFT JOIN sealing.salts s ON s.partition = e.partition AND s.position = e.position
LEFT JOIN sealing.subject_keys k ON k.user_id = e.user_id
WHERE e.partition = %(partition)s AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;

-- name: head
SELECT position, digest FROM log.heads WHERE partition = %(partition)s;

-- name: verify_slice
-- Compares the digests of the next rows of one partition with the digests computed from the row before.
WITH slice AS MATERIALIZED (
    SELECT e.* FROM log.events e
    WHERE e.partition = %(partition)s AND e.position > %(after)s AND e.position <= %(head)s
    ORDER BY e.position
    LIMIT %(limit)s
), chained AS (
    SELECT e.position, e.digest, %(after)s + row_number() OVER (ORDER BY e.position) AS expected,
           log.chain_step(lag(e.digest, 1, %(digest)s::bytea) OVER (ORDER BY e.position),
                          log.canonical(e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type,
                                        e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor,
                                        e.causation_id, e.correlation_id, e.data), NULL) AS recomputed
    FROM slice e
)
SELECT count(*), min(expected) FILTER (WHERE position <> expected),
       min(expected) FILTER (WHERE digest IS DISTINCT FROM recomputed),
       (SELECT digest FROM chained ORDER BY position DESC LIMIT 1)
FROM chained;

-- name: checkpoints
SELECT partition, position FROM log.checkpoints
WHERE processor = %(processor)s AND generation = %(generation)s
ORDER BY partition;

-- name: claim
-- Locks the partitions with news for a processor until the transaction ends. Other workers skip these partitions, so
-- the workers share the partitions and no event is handled twice.
SELECT c.partition, c.position, h.position AS head
FROM log.checkpoints c JOIN log.heads h USING (partition)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s AND h.position > c.position
  AND (%(partitions)s::smallint[] IS NULL OR c.partition = ANY (%(partitions)s::smallint[]))
ORDER BY c.moved_at NULLS FIRST, c.partition
LIMIT %(limit)s
FOR NO KEY UPDATE OF c SKIP LOCKED;

-- name: read_claimed
-- The next events of partitions, without those of types that are passed: most payloads concern no reader but one. A
-- partition without other events has a row, too, with the last position and the first that is missing.
SELECT c.partition AS claimed, n.last, n.missing, e.*
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[], %(heads)s::bigint[]) AS c(partition, position, head)
CROSS JOIN LATERAL (
    SELECT max(position) AS last, min(expected) FILTER (WHERE position <> expected) AS missing FROM (
        SELECT l.position, c.position + row_number() OVER (ORDER BY l.position) AS expected
        FROM log.events l
        WHERE l.partition = c.partition AND l.position > c.position AND l.position <= c.head
        ORDER BY l.position
        LIMIT %(limit)s
    ) next
) n
LEFT JOIN LATERAL (
    SELECT {event e}
    FROM log.events e
    WHERE e.partition = c.partition AND e.position > c.position AND e.position <= n.last
      AND e.type <> ALL (%(passed)s::text[])
) e ON true
ORDER BY c.partition, e.position;

-- name: row_security
-- True when a policy applies to this role, the columns that a row brings, and the bytes of the staged rows.
SELECT row_security_active(t.oid), array_agg(a.attname::text ORDER BY a.attnum),
       pg_relation_size(to_regclass(%(staged)s::text))
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE t.oid = %(table)s::text::regclass
GROUP BY t.oid;

-- name: append
SELECT ordinal, partition, position, version, recorded_at, duplicate FROM log.append(%(batch)s::text::json);

-- name: append_additive
SELECT ordinal, partition, position, version, recorded_at, duplicate FROM log.append_additive(%(batch)s::text::json);

-- name: copy_events
COPY {into} (digest, partition, position, event_id, user_id, stream, version, type, schema_version, occurred_at,
                 recorded_at, actor, data, dedupe_key, causation_id, correlation_id, mac) FROM STDIN;

-- name: move_head
UPDATE log.heads SET position = %(position)s, digest = %(digest)s, recorded_at = %(recorded_at)s
WHERE partition = %(partition)s;

-- name: advance
-- Compare-and-swap: only a checkpoint that is still at the start of the batch moves.
UPDATE log.checkpoints c SET position = moved.after, moved_at = clock_timestamp()
FROM unnest(%(partitions)s::smallint[], %(before)s::bigint[], %(after)s::bigint[]) AS moved(partition, before, after)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s
  AND c.partition = moved.partition AND c.position = moved.before;

-- name: open_checkpoints
INSERT INTO log.checkpoints (processor, generation, partition)
SELECT %(processor)s, %(generation)s, partition FROM log.heads
ON CONFLICT DO NOTHING;

-- name: move_few_staged
-- A few deleted rows cost a third of a new file for the table. Their places are not used again.
WITH moved AS (DELETE FROM {staged} RETURNING {columns})
INSERT INTO {into} ({columns}) SELECT {columns} FROM moved;

-- name: move_staged
INSERT INTO {into} ({columns}) SELECT {columns} FROM {staged};

-- name: bare_search_path
SET LOCAL search_path = pg_catalog, public;

-- name: listen
LISTEN cardlog_log;

-- name: notify
-- This runs outside the transaction of the append. A NOTIFY inside makes all commits of the server wait for one lock.
SELECT pg_notify('cardlog_log', %(types)s);

-- name: set_idle_session_timeout
-- A stopped process keeps its connection and its locks. The server ends such a session after this time.
SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false);

-- name: stop_appends
-- Takes the locks of an append, and appends nothing. The function sets a short timeout, and an erasure reads meanwhile.
SELECT count(*), set_config('idle_in_transaction_session_timeout', '60s', true)
FROM sealing.append('[]', ARRAY[%(partition)s]::smallint[], '{}', '', '{}', '{}', '{}');

-- name: export_snapshot
-- One snapshot while others append, and one notation for times.
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY; SET LOCAL TimeZone = 'UTC';

-- name: lock_head
SELECT position, digest FROM log.heads WHERE partition = %(partition)s FOR UPDATE;

-- name: lock_stream
-- Commands about one stream of a user work one after the other until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 6));
