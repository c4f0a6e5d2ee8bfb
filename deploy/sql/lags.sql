-- Events between each processor and the heads, and the age of the oldest of them.
SELECT c.processor, sum(h.position - c.position)::bigint AS behind,
       coalesce(extract(epoch FROM clock_timestamp() - min(oldest.recorded_at)), 0)::float8 AS seconds
FROM log.checkpoints c
JOIN log.heads h USING (partition)
LEFT JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
LEFT JOIN LATERAL (
    SELECT e.recorded_at FROM log.events e
    WHERE e.partition = c.partition AND e.position = c.position + 1
) oldest ON true
WHERE c.generation = 0 OR g.status = 'live'
GROUP BY c.processor
ORDER BY array_position(ARRAY['extractor', 'cards', 'vectors'], c.processor), c.processor;
