-- name: registries_between
-- The events of each user's modes that were the last one at some position between two positions, in order, and every
-- later re-embedding, and every later event that says an erased one again.
SELECT {event e}
FROM unnest(%(users)s::text[], %(partitions)s::smallint[], %(first)s::bigint[], %(last)s::bigint[])
     AS u(user_id, partition, first, last)
CROSS JOIN LATERAL (
    SELECT coalesce(max(before.version), 0) AS version FROM log.events before
    WHERE before.partition = u.partition AND before.user_id = u.user_id AND before.stream = %(stream)s::text
      AND before.position <= u.first
) start
JOIN log.events e ON e.partition = u.partition AND e.user_id = u.user_id AND e.stream = %(stream)s::text
                 AND e.version >= start.version
                 AND (e.position <= u.last OR e.type = 'ModeReembedded' OR e.causation_id IS NOT NULL)
ORDER BY e.partition, e.position;

-- name: registry
-- The last event of each user's modes. It holds the complete registry. The index of versions finds it.
SELECT {event e}
FROM unnest(%(users)s::text[], %(partitions)s::smallint[]) AS u(user_id, partition)
CROSS JOIN LATERAL (
    SELECT * FROM log.events last
    WHERE last.partition = u.partition AND last.user_id = u.user_id AND last.stream = %(stream)s::text
    ORDER BY last.version DESC
    LIMIT 1
) e;
