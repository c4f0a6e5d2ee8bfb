-- Locks the partitions with news for a processor until the transaction ends. Other workers skip these partitions, so
-- the workers share the partitions and no event is handled twice.
SELECT c.partition, c.position, h.position AS head
FROM log.checkpoints c JOIN log.heads h USING (partition)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s AND h.position > c.position
  AND (%(partitions)s::smallint[] IS NULL OR c.partition = ANY (%(partitions)s::smallint[]))
ORDER BY c.moved_at NULLS FIRST, c.partition
LIMIT %(limit)s
FOR NO KEY UPDATE OF c SKIP LOCKED;
