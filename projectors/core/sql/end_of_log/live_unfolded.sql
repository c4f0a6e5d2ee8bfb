-- The events of a user above a position, in order. See live_present for OFFSET 0.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM (
    SELECT * FROM log.events WHERE partition = %(partition)s AND position > %(folded)s ORDER BY position OFFSET 0
) e
WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
LIMIT %(limit)s;
