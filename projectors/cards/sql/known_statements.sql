SELECT s.identity, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(users)s::text[], %(identities)s::text[]) AS wanted(user_id, identity)
JOIN statements s USING (user_id, identity)
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
ORDER BY e.partition, e.position;
