-- The lag of every processor of the log: live generations and generations that are being built. Parked events count for
-- their own generation. A generation in the status building is abandoned when no process holds the change lock.
WITH reader AS (
    SELECT c.processor, c.generation, coalesce(g.status, 'live') AS status,
           sum(c.position)::bigint AS position, sum(h.position - c.position)::bigint AS behind,
           min(oldest.recorded_at) AS oldest_at, max(c.moved_at) AS moved_at
    FROM log.checkpoints c
    JOIN log.heads h USING (partition)
    LEFT JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
    -- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sum out of the comparison.
    CROSS JOIN LATERAL (SELECT c.position + 1 AS position OFFSET 0) next
    LEFT JOIN log.events oldest ON oldest.partition = c.partition AND oldest.position = next.position
    WHERE c.generation = 0 OR g.status IN ('live', 'building')
    GROUP BY c.processor, c.generation, g.status
)
SELECT r.processor, r.generation, r.status, r.position, r.behind,
       CASE WHEN r.behind = 0 THEN 0
            ELSE extract(epoch FROM clock_timestamp() - r.oldest_at) END::float8 AS seconds,
       extract(epoch FROM clock_timestamp() - r.moved_at)::float8 AS moved_s,
       (SELECT count(*) FROM log.parked p
        WHERE p.processor = r.processor AND p.generation = r.generation) AS parked,
       last.reason AS parked_reason, last.parked_at,
       EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
               WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND l.objsubid = 1
                 AND (l.classid::bigint << 32 | l.objid::bigint)
                     = hashtextextended('cardlog change ' || r.processor, 0)) AS changing
FROM reader r
LEFT JOIN LATERAL (
    SELECT p.reason, p.parked_at FROM log.parked p
    WHERE p.processor = r.processor AND p.generation = r.generation AND p.reason IS NOT NULL
    ORDER BY p.parked_at DESC LIMIT 1
) last ON true
ORDER BY array_position(%(readers)s::text[], r.processor), r.processor, r.generation;
