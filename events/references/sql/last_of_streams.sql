-- The last event of every stream of an owner between two names, in the order of the names.
SELECT DISTINCT ON (stream)
       partition, position, event_id, user_id, stream, version, type, schema_version, dedupe_key, occurred_at,
       recorded_at, actor, causation_id, correlation_id, sealing.readable(user_id, partition, position, data) AS data
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream >= %(first)s AND stream < %(last)s
ORDER BY stream, version DESC;
