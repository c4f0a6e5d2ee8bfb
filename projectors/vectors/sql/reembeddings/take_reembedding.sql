-- The oldest open re-embedding that no other worker does. Its row is locked until the transaction ends: a fold or an
-- erasure that changes vectors of the same user waits for it.
SELECT user_id, name, project_id, event_id, partition, position, reached FROM reembeddings
WHERE done_at IS NULL AND event_id <> ALL (%(without)s::uuid[])
ORDER BY requested_at LIMIT 1
FOR UPDATE SKIP LOCKED;
