SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS place(partition, position)
JOIN log.events e USING (partition, position)
ORDER BY e.partition, e.position;
