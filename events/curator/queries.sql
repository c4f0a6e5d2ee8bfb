-- name: runs
-- The latest runs of a user and what undid them, the last first.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
ORDER BY e.version DESC
LIMIT %(limit)s;

-- name: acts
-- The events with some idempotency keys, in order.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.dedupe_key = ANY (%(keys)s::text[])
ORDER BY e.position;

-- name: lock_curator
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s, 9));
