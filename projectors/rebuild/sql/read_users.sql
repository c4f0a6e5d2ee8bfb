-- The events of a partition, user by user. The fold forgets a user after the user's last event, so one user bounds
-- the memory.
SELECT e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key, e.occurred_at,
       e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data)
FROM log.events e
WHERE e.partition = %(partition)s AND e.position <= %(head)s AND e.type = ANY (%(types)s::text[])
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(projection)s AND d.partition = e.partition AND d.position = e.position)
ORDER BY e.user_id, e.position;
