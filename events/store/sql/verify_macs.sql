-- The columns that the HMAC of an event covers, the payload with what opens it, and the HMAC.
SELECT position, event_id, user_id, stream, type, schema_version, dedupe_key, occurred_at, actor, causation_id,
       correlation_id, sealing.readable(user_id, partition, position, data) AS data, mac
FROM log.events
WHERE partition = %(partition)s AND position > %(after)s AND position <= %(last)s
ORDER BY position;
