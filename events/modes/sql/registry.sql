-- The last event of each user's modes. It holds the complete registry. The index of versions finds it.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(users)s::text[], %(partitions)s::smallint[]) AS u(user_id, partition)
CROSS JOIN LATERAL (
    SELECT * FROM log.events last
    WHERE last.partition = u.partition AND last.user_id = u.user_id AND last.stream = %(stream)s::text
    ORDER BY last.version DESC
    LIMIT 1
) e;
