-- One row a queue: the event that stands first, why, and how many wait behind it. Live generations only.
SELECT DISTINCT ON (p.processor, p.user_id)
       p.processor, p.generation, p.user_id, p.partition, p.position, p.event_id, e.type, p.reason, p.attempts,
       p.parked_at, count(*) OVER (PARTITION BY p.processor, p.user_id) - 1 AS behind
FROM log.parked p
JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'
LEFT JOIN log.events e ON e.partition = p.partition AND e.position = p.position
WHERE (%(processor)s::text IS NULL OR p.processor = %(processor)s::text)
  AND (%(user_id)s::text IS NULL OR p.user_id = %(user_id)s::text)
ORDER BY p.processor, p.user_id, p.position;
