-- The last turns of each session before its first unread turn. A correction corrects such a turn.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS first(stream, version)
CROSS JOIN LATERAL (
    SELECT * FROM log.events e
    WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = first.stream
      AND (first.version IS NULL OR e.version < first.version)
    ORDER BY e.version DESC
    LIMIT %(limit)s
) e
ORDER BY e.stream, e.version;
