-- The events of a user that a generation has folded, without some of them. Parked and dropped events are not folded.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.position > %(after)s AND e.position <= %(up_to)s
  AND e.type = ANY (%(types)s::text[]) AND e.event_id <> ALL (%(without)s::uuid[])
  AND NOT EXISTS (SELECT FROM log.parked p
                  WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = e.user_id
                    AND p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(processor)s AND d.user_id = e.user_id AND d.partition = e.partition
                    AND d.position = e.position)
ORDER BY e.position
LIMIT %(limit)s;
