-- The newest cards come first, so that semantic search finds recent turns first. Several workers share the list: a row
-- is locked until its vector is stored. Cards of the slots `without` are left out.
WITH newest AS MATERIALIZED (
    SELECT p.user_id, p.card_id, p.partition, p.position FROM pending_vectors p
    WHERE p.failure IS NULL AND (p.waits_for IS NULL OR p.waits_for <> ALL (%(without)s::text[]))
    ORDER BY p.recorded_at DESC, p.position DESC
    LIMIT %(limit)s
    FOR UPDATE SKIP LOCKED
)
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM newest n JOIN log.events e ON e.partition = n.partition AND e.position = n.position;
