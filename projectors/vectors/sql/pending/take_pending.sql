-- The newest cards come first, so that semantic search finds recent turns first. Several workers share the list: a row
-- is locked until its vector is stored.
WITH newest AS MATERIALIZED (
    SELECT p.user_id, p.card_id, p.partition, p.position FROM pending_vectors p
    WHERE p.failure IS NULL
    ORDER BY p.recorded_at DESC, p.position DESC
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id, e.data::text AS data
FROM newest n JOIN log.events e ON e.partition = n.partition AND e.position = n.position;
