-- The events of a user's problems, in order: those that the table knows, and those above its checkpoint. One statement
-- sees one state of both.
WITH folded AS (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'problems' AND c.partition = %(partition)s), 0) AS position
), place AS (
    SELECT n.position FROM problems.entries n WHERE n.user_id = %(user_id)s
    UNION
    SELECT e.position FROM folded JOIN log.events e ON e.partition = %(partition)s AND e.position > folded.position
    WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
)
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM place JOIN log.events e ON e.partition = %(partition)s AND e.position = place.position AND e.user_id = %(user_id)s
ORDER BY e.position
LIMIT 20000;
