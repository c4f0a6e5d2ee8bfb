-- The event of the statement that has the id of a card.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM cards.statements own
JOIN log.events e ON e.partition = own.partition AND e.position = own.position
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid
LIMIT 1;
