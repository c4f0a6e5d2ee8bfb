-- The events of some owners above the checkpoint of the tables, in order. See present_objects.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(owners)s::text[], %(partitions)s::smallint[]) AS asked(user_id, partition)
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'references' AND c.partition = asked.partition), 0) AS position
) folded
CROSS JOIN LATERAL (
    SELECT * FROM log.events WHERE partition = asked.partition AND position > folded.position ORDER BY position OFFSET 0
) e
WHERE e.user_id = asked.user_id AND e.type = ANY (%(types)s::text[])
LIMIT 10000;
