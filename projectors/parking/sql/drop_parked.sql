-- The first of a queue, or all of it, from waiting to decided against, in every generation; returns what went.
WITH chosen AS (
    SELECT p.position, p.event_id, p.reason, p.attempts, p.parked_at FROM log.parked p
    WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = %(user_id)s
      AND p.partition = %(partition)s
    ORDER BY p.position
    LIMIT CASE WHEN %(whole)s::boolean THEN NULL ELSE 1 END
), gone AS (
    DELETE FROM log.parked p USING chosen
    WHERE p.processor = %(processor)s AND p.user_id = %(user_id)s AND p.partition = %(partition)s
      AND p.position = chosen.position
)
INSERT INTO log.dropped (processor, partition, user_id, position, event_id, reason, because, attempts, parked_at)
SELECT %(processor)s, %(partition)s, %(user_id)s, position, event_id, reason, %(because)s, attempts, parked_at
FROM chosen
RETURNING partition, position, event_id, reason;
