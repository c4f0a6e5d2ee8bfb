-- The turns and card events of one user above the checkpoints, the newest first. Without any, one row without an event.
-- The query reads at most `depth` events of the partition, by its primary key. Events of other users cost no more than
-- that. `folded` is the checkpoint of a replica's tables, or null on the primary. `recorded` are the idempotency keys of
-- queued turns that are already in the log.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the difference out of the comparison.
SELECT place.head, place.extracted, place.folded,
       ARRAY(SELECT k.dedupe_key FROM log.events k
             WHERE k.partition = %(partition)s AND k.user_id = %(user_id)s
               AND k.dedupe_key = ANY (%(keys)s::text[])) AS recorded,
       e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM (
  SELECT head, extracted, folded, greatest(least(extracted, folded), head - %(depth)s) AS after FROM (
    SELECT h.position AS head,
           coalesce((SELECT c.position FROM log.checkpoints c
                     WHERE c.processor = 'extractor' AND c.generation = 0 AND c.partition = h.partition), 0) AS extracted,
           coalesce(%(folded)s::bigint,
                    (SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'cards' AND c.partition = h.partition), 0) AS folded
    FROM log.heads h WHERE h.partition = %(partition)s
  ) positions
  OFFSET 0
) place
LEFT JOIN LATERAL (
    SELECT own.* FROM log.events own
    WHERE own.partition = %(partition)s
      AND own.position > place.after
      AND own.user_id = %(user_id)s AND own.type = ANY (%(types)s::text[])
    ORDER BY own.position DESC
    LIMIT %(limit)s
) e ON true
ORDER BY e.position DESC;
