-- name: parked_events
SELECT {event e}
FROM log.parked p JOIN log.events e USING (partition, position)
WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = %(user_id)s
  AND p.position > %(after)s
ORDER BY p.position
LIMIT %(limit)s;

-- name: parked_queues
-- One row a queue: the event that stands first, why, and how many wait behind it. Live generations only. NULL sets no
-- condition.
SELECT DISTINCT ON (p.processor, p.user_id)
       p.processor, p.generation, p.user_id, p.partition, p.position, p.event_id, e.type, p.reason, p.attempts,
       p.parked_at, count(*) OVER (PARTITION BY p.processor, p.user_id) - 1 AS behind
FROM log.parked p
JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'
LEFT JOIN log.events e ON e.partition = p.partition AND e.position = p.position
WHERE (%(processor)s::text IS NULL OR p.processor = %(processor)s::text)
  AND (%(users)s::text[] IS NULL OR p.user_id = ANY (%(users)s::text[]))
  AND (%(tenant)s::text IS NULL OR log.tenant_of(p.user_id) = %(tenant)s::text)
ORDER BY p.processor, p.user_id, p.position
LIMIT %(limit)s;

-- name: set_aside
-- Which of these users wait already, and which events of these partitions an operator decided to go without.
SELECT ARRAY(SELECT DISTINCT p.user_id FROM log.parked p
             WHERE p.processor = %(processor)s AND p.generation = %(generation)s
               AND p.user_id = ANY (%(users)s::text[])),
       ARRAY(SELECT d.event_id FROM log.dropped d
             WHERE d.processor = %(processor)s AND d.partition = ANY (%(partitions)s::smallint[]));

-- name: erased_events
-- The ids of the events of a user at these positions.
SELECT event_id FROM log.events
WHERE partition = %(partition)s AND position = ANY (%(positions)s::bigint[]) AND user_id = %(user_id)s;

-- name: remaining
-- The events of a user that a generation has folded, without some of them. Parked and dropped events are not folded.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.position > %(after)s AND e.position <= %(up_to)s
  AND e.type = ANY (%(types)s::text[]) AND e.event_id <> ALL (%(without)s::uuid[])
  AND NOT EXISTS (SELECT FROM log.parked p
                  WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = e.user_id
                    AND p.partition = e.partition AND p.position = e.position)
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(processor)s AND d.user_id = e.user_id AND d.partition = e.partition
                    AND d.position = e.position)
ORDER BY e.position
LIMIT %(limit)s;

-- name: drop_parked
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

-- name: failed_again
UPDATE log.parked SET reason = %(reason)s, attempts = attempts + 1
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position = %(position)s;

-- name: park
-- Only an event with a reason was tried; the others wait behind it.
INSERT INTO log.parked (processor, generation, partition, user_id, position, event_id, reason, attempts)
SELECT %(processor)s, %(generation)s, e.partition, e.user_id, e.position, e.event_id, e.reason,
       (e.reason IS NOT NULL)::integer
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(positions)s::bigint[], %(events)s::uuid[],
            %(reasons)s::text[]) AS e(partition, user_id, position, event_id, reason);

-- name: unpark
DELETE FROM log.parked
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position <= %(position)s;

-- name: forget_parked
-- Deletes the parked and the dropped events of a user, what operators asked about them, and the counts of their cards: of
-- some events, or all for NULL. A card has the id of its event.
-- A later event that waits behind an erased one then needs `cardlog parked retry` no more than before.
WITH parked AS (
    DELETE FROM log.parked p WHERE p.user_id = %(user_id)s AND p.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR p.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
), dropped AS (
    DELETE FROM log.dropped d WHERE d.user_id = %(user_id)s AND d.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR d.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
), asked AS (
    DELETE FROM log.operations o WHERE o.user_id = %(user_id)s
        AND (%(events)s::uuid[] IS NULL OR o.event_id = ANY (%(events)s::uuid[]))
), used AS (
    DELETE FROM log.card_use u WHERE u.user_id = %(user_id)s
        AND (%(events)s::uuid[] IS NULL OR u.card_id = ANY (%(events)s::uuid[]))
), days AS (
    DELETE FROM log.answer_use a WHERE a.user_id = %(user_id)s AND %(events)s::uuid[] IS NULL
)
SELECT (SELECT count(*) FROM parked), (SELECT count(*) FROM dropped);

-- name: lock_checkpoint
-- The row a runner holds while it folds this partition: whoever has it is alone with the partition's users.
SELECT position FROM log.checkpoints
WHERE processor = %(processor)s AND generation = %(generation)s AND partition = %(partition)s
FOR NO KEY UPDATE;
