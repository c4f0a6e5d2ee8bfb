-- The card events of one user between two positions, with the events that cause or withdraw them, oldest first.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.position > %(after)s AND e.position <= %(head)s
  -- The concatenation keeps the planner on the positions. The index of users would read the whole history.
  AND e.user_id || '' = %(user_id)s
  AND e.type IN ('StateAsserted', 'EventNoted', 'CardsWithdrawn', 'TurnsExtracted', 'SubjectErased')
  AND strpos(e.data::text, '"episode":true') = 0
ORDER BY e.position;
