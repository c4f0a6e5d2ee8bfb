-- name: counts
SELECT webhook_id, count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'dead'),
       (array_agg(last_error ORDER BY tried_at DESC) FILTER (WHERE last_error IS NOT NULL))[1]
FROM log.deliveries WHERE user_id = %(user_id)s GROUP BY webhook_id;

-- name: entries
-- The events of the webhooks of some users, in order.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = ANY (%(partitions)s::smallint[]) AND e.user_id = ANY (%(users)s::text[]) AND e.stream = %(stream)s
ORDER BY e.user_id, e.version;

-- name: lock_webhooks
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 6));
