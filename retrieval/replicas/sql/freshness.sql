-- The progress of every waiting read, in one statement. Only the checkpoint of a live generation counts.
SELECT e.position AS turn,
       x.position AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = w.partition) AS cards,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'vectors' AND c.partition = w.partition) AS vectors,
       h.position AS head,
       -- True when a vectors worker runs and does not report that it falls behind.
       EXISTS (SELECT FROM log.heartbeats s
               WHERE s.stage = 'vectors' AND s.state = 'running'
                 AND s.seen_at > clock_timestamp() - make_interval(secs => %(unseen_s)s)
                 AND coalesce(s.detail, '') NOT LIKE %(falling)s) AS keeps_up
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(keys)s::text[])
    WITH ORDINALITY AS w(partition, user_id, key, number)
JOIN log.heads h ON h.partition = w.partition
LEFT JOIN log.events e ON e.partition = w.partition AND e.user_id = w.user_id AND e.dedupe_key = w.key
    AND e.dedupe_key IS NOT NULL
LEFT JOIN log.checkpoints x ON x.processor = 'extractor' AND x.generation = 0 AND x.partition = w.partition
ORDER BY w.number;
