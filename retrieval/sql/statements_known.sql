-- Earlier statements of some identities, as the tables knew them at `folded`: what came later is folded by the asker.
SELECT s.identity, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id, e.data::text AS data
FROM unnest(%(identities)s::text[]) AS wanted(identity)
JOIN cards.statements s ON s.user_id = %(user_id)s AND s.identity = wanted.identity
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
WHERE s.position <= %(folded)s
ORDER BY e.position;
