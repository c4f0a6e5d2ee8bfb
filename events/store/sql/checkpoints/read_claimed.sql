SELECT e.*
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[], %(heads)s::bigint[]) AS c(partition, position, head)
CROSS JOIN LATERAL (
    SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
           e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
           sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
    FROM log.events e
    WHERE e.partition = c.partition AND e.position > c.position AND e.position <= c.head
    ORDER BY e.position
    LIMIT %(limit)s
) e
ORDER BY e.partition, e.position;
