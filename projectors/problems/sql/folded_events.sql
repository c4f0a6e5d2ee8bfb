-- The events that the tables hold of a user, in order.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM entries n JOIN log.events e ON e.partition = %(partition)s AND e.position = n.position
WHERE n.user_id = %(user_id)s
ORDER BY e.position;
