-- Those of some users of whom something is known, in order.
SELECT u.user_id, (SELECT max(t.erased_at) FROM erasure.tombstones t
                   WHERE t.user_id = u.user_id AND t.kind = 'user') AS erased_at
FROM unnest(%(partitions)s::smallint[], %(users)s::text[]) AS u(partition, user_id)
WHERE EXISTS (SELECT FROM log.events e WHERE e.partition = u.partition AND e.user_id = u.user_id)
ORDER BY u.user_id COLLATE "C"
LIMIT %(limit)s;
