SELECT partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, occurred_at,
       recorded_at, actor, causation_id, correlation_id,
       sealing.readable(user_id, partition, position, data) AS data, digest
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
