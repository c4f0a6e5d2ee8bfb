SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM core.card_remarks r
JOIN log.events e ON e.partition = r.partition AND e.position = r.position
WHERE r.user_id = %(user_id)s AND r.target = ANY (%(events)s::uuid[])
ORDER BY e.position;
