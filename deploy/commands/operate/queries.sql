-- name: log_size
SELECT pg_table_size('log.events'), pg_indexes_size('log.events');

-- name: log_types
-- One pass over the log: the number, the bytes and the first and last time of the events of each type and version.
SELECT type, schema_version, count(*) AS events, sum(octet_length(data::text))::bigint AS payload_bytes,
       min(recorded_at) AS first_recorded_at, max(recorded_at) AS last_recorded_at
FROM log.events
GROUP BY type, schema_version
ORDER BY type, schema_version;

-- name: log_users
SELECT count(*) FROM (SELECT DISTINCT partition, user_id FROM log.events) u;

-- name: show_events
SELECT {event events}, digest
FROM log.events
WHERE (%(partition)s::smallint IS NULL OR partition = %(partition)s::smallint)
  AND (%(after)s::bigint IS NULL OR position > %(after)s::bigint)
  AND (%(up_to)s::bigint IS NULL OR position <= %(up_to)s::bigint)
  AND (%(user_id)s::text IS NULL OR user_id = %(user_id)s::text)
  AND (%(tenant)s::text IS NULL OR log.tenant_of(user_id) = %(tenant)s::text)
  AND (%(stream)s::text IS NULL OR stream = %(stream)s::text)
  AND (%(type)s::text IS NULL OR type = %(type)s::text)
  AND (%(since)s::timestamptz IS NULL OR recorded_at >= %(since)s::timestamptz)
ORDER BY partition, position
LIMIT %(limit)s;

-- name: type_exists
SELECT EXISTS (SELECT FROM log.events WHERE type = %(type)s);

-- name: user_exists
SELECT EXISTS (SELECT FROM log.events WHERE partition = %(partition)s::smallint AND user_id = %(user_id)s);
-- name: concept_keys
-- The statements of each user, with their payloads.
SELECT e.partition, e.position, e.event_id, e.user_id, e.type, e.schema_version,
       {readable e} AS data
FROM log.events e
WHERE e.type = 'StateAsserted' AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.user_id;

-- name: pgvector
SELECT extversion FROM pg_extension WHERE extname = 'vector';
