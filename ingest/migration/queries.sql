-- name: extracted_after
-- What extractions made of a user's turns, above a position.
SELECT partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, occurred_at,
       recorded_at, actor, causation_id, correlation_id, sealing.readable(user_id, partition, position, data) AS data
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND position > %(after)s AND type = ANY (%(types)s::text[])
ORDER BY position
LIMIT %(limit)s;

-- name: turns_of_keys
SELECT partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, occurred_at,
       recorded_at, actor, causation_id, correlation_id, sealing.readable(user_id, partition, position, data) AS data
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND dedupe_key = ANY (%(keys)s::text[]);
