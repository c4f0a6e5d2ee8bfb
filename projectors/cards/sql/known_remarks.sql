SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(users)s::text[], %(targets)s::uuid[]) AS said(user_id, event_id)
JOIN remarks r ON r.user_id = said.user_id AND r.target = said.event_id
JOIN log.events e ON e.partition = r.partition AND e.position = r.position
ORDER BY e.partition, e.position;
