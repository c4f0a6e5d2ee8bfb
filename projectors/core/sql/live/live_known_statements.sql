-- The statements of identities, and all identities that each of them is about.
SELECT DISTINCT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM core.card_statements s
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
WHERE s.user_id = %(user_id)s AND s.identity = ANY (%(identities)s::text[]);
