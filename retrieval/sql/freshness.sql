SELECT e.position AS turn,
       (SELECT c.position FROM log.checkpoints c
        WHERE c.processor = 'extractor' AND c.generation = 0 AND c.partition = h.partition) AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = h.partition) AS folded,
       h.position AS head
FROM log.heads h
LEFT JOIN log.events e ON e.partition = h.partition AND e.user_id = %(user_id)s AND e.dedupe_key = %(key)s::text
WHERE h.partition = %(partition)s;
