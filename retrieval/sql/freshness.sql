SELECT e.position AS turn,
       (SELECT c.position FROM log.checkpoints c
        WHERE c.processor = 'extractor' AND c.generation = 0 AND c.partition = e.partition) AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = e.partition) AS folded,
       h.position AS head
FROM log.events e JOIN log.heads h USING (partition)
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.dedupe_key = %(key)s;
