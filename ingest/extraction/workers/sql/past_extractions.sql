-- The extractions and failed extractions of one partition, in order.
SELECT e.position, e.event_id, e.user_id, e.stream, e.type, e.recorded_at, e.data::text AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.type IN ('TurnsExtracted', 'ExtractionFailed')
  AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;
