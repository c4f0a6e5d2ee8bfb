-- name: relay_batch
SELECT e.partition, e.position, e.event_id::text, e.user_id, e.type, e.schema_version, e.line
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[], %(heads)s::bigint[]) AS c(partition, position, head)
CROSS JOIN LATERAL (
    SELECT e.partition, e.position, e.event_id, e.user_id, e.type, e.schema_version, log.line(e) AS line
    FROM log.events e
    WHERE e.partition = c.partition AND e.position > c.position AND e.position <= c.head
    ORDER BY e.position
    LIMIT %(limit)s
) e
ORDER BY e.partition, e.position;

-- name: ping
SELECT;

-- name: try_leader_lock
-- The lock lasts until the session ends.
SELECT pg_try_advisory_lock(hashtextextended('cardlog relay', 0));
