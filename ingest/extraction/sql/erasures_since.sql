-- The erasures of some users above a position. The look-up by the stream of the tombstones costs one index probe a user.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(positions)s::bigint[]) AS u(partition, user_id, position)
JOIN log.events e ON e.partition = u.partition AND e.user_id = u.user_id AND e.stream = %(stream)s::text
                 AND e.position > u.position;
