-- Every generation with its progress and its size. The tables of the live generation are in the projection's schema.
SELECT g.projection, g.generation AS number, g.status, g.created_at, g.live_at, position.events, position.behind,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'm')
          AND n.nspname = CASE g.status WHEN 'live' THEN g.projection ELSE g.projection || '_g' || g.generation END
       ) AS bytes
FROM log.generations g
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.position), 0)::bigint AS events, coalesce(sum(h.position - c.position), 0)::bigint AS behind
    FROM log.checkpoints c JOIN log.heads h USING (partition)
    WHERE c.processor = g.projection AND c.generation = g.generation
) position
WHERE %(projection)s::text IS NULL OR g.projection = %(projection)s::text
ORDER BY g.projection, g.generation;
