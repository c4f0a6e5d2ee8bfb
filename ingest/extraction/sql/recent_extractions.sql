-- The latest extractions of a session, the newest first. The cards of an extraction stand in the same stream.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM (
    SELECT * FROM log.events latest
    WHERE latest.partition = %(partition)s AND latest.user_id = %(user_id)s AND latest.stream = %(stream)s
    ORDER BY latest.version DESC
    LIMIT 60
) e
WHERE e.type = 'TurnsExtracted'
ORDER BY e.version DESC
LIMIT %(limit)s;
