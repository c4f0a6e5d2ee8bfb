SELECT first.ordinal, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(streams)s::text[], %(versions)s::bigint[])
     WITH ORDINALITY AS first(partition, user_id, stream, version, ordinal)
CROSS JOIN LATERAL (
    SELECT * FROM log.events e
    WHERE e.partition = first.partition AND e.user_id = first.user_id AND e.stream = first.stream
      AND e.version < first.version
    ORDER BY e.version DESC
    LIMIT %(limit)s
) e
ORDER BY first.ordinal, e.version;
