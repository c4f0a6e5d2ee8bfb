-- The document as the tables have it, and then the events of the user above the checkpoint of the tables, in order. One
-- statement, so all are of one moment. `head` is the last event of the partition then. OFFSET 0 makes the range of
-- positions the first condition: another index would read the whole history of the user.
WITH folded AS MATERIALIZED (
    SELECT h.position AS head, coalesce((
        SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS folded
    FROM log.heads h WHERE h.partition = %(partition)s
)
SELECT f.folded, f.head, d.document::text AS document, d.marks::text AS marks, d.updated_at, NULL::smallint AS partition,
       d.position, NULL::uuid AS event_id, NULL AS user_id, NULL AS stream, d.version, NULL AS type,
       NULL::smallint AS schema_version, NULL AS dedupe_key, NULL::timestamptz AS occurred_at,
       NULL::timestamptz AS recorded_at, NULL AS actor, NULL::uuid AS causation_id, NULL::uuid AS correlation_id,
       NULL AS data
FROM folded f LEFT JOIN core.documents d ON d.user_id = %(user_id)s
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type,
       e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data)
FROM folded f CROSS JOIN LATERAL (
    SELECT * FROM (
        SELECT * FROM log.events WHERE partition = %(partition)s AND position > f.folded ORDER BY position OFFSET 0
    ) later
    WHERE later.user_id = %(user_id)s AND later.type = ANY (%(types)s::text[])
    LIMIT %(limit)s
) e
ORDER BY partition NULLS FIRST, position;
