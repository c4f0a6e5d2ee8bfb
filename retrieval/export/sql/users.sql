-- The users of a tenant after a user, in order. In each partition the index gives one user after the other, without
-- reading the events between them.
WITH RECURSIVE found AS (
    SELECT p.partition, u.user_id, (NOT %(plain)s OR strpos(u.user_id, E'\x1f') = 0)::int AS number
    FROM generate_series(0, 63) AS p(partition)
    CROSS JOIN LATERAL (SELECT e.user_id FROM log.events e
                        WHERE e.partition = p.partition AND e.user_id > %(after)s AND e.user_id < %(end)s
                        ORDER BY e.user_id LIMIT 1) u
    UNION ALL
    SELECT f.partition, u.user_id, f.number + (NOT %(plain)s OR strpos(u.user_id, E'\x1f') = 0)::int
    FROM found f
    CROSS JOIN LATERAL (SELECT e.user_id FROM log.events e
                        WHERE e.partition = f.partition AND e.user_id < %(end)s
                          AND e.user_id >= CASE WHEN %(plain)s AND strpos(f.user_id, E'\x1f') > 0
                              THEN split_part(f.user_id, E'\x1f', 1) || ' ' ELSE f.user_id || E'\x01' END
                        ORDER BY e.user_id LIMIT 1) u
    WHERE f.number < %(limit)s
)
SELECT f.user_id, (SELECT max(t.erased_at) FROM erasure.tombstones t
                   WHERE t.user_id = f.user_id AND t.kind = 'user') AS erased_at
FROM found f
WHERE NOT %(plain)s OR strpos(f.user_id, E'\x1f') = 0
ORDER BY f.user_id
LIMIT %(limit)s;
