SELECT partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, occurred_at,
       recorded_at, actor, causation_id, correlation_id,
       sealing.readable(user_id, partition, position, data) AS data, digest
FROM log.events
WHERE partition = %(partition)s AND position > %(after)s
ORDER BY position
LIMIT %(limit)s;
