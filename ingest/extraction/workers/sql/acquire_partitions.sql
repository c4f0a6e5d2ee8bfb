-- Locks partitions with news until the session ends. Partitions of another extractor are skipped.
WITH news AS MATERIALIZED (
    SELECT c.partition FROM log.checkpoints c JOIN log.heads h USING (partition)
    WHERE c.processor = %(processor)s AND c.generation = %(generation)s AND h.position > c.position
      AND (%(partitions)s::smallint[] IS NULL OR c.partition = ANY (%(partitions)s::smallint[]))
      AND c.partition <> ALL (%(held)s::smallint[])
    ORDER BY c.moved_at NULLS FIRST, c.partition
)
SELECT partition FROM news
WHERE pg_try_advisory_lock(hashtextextended('cardlog extractor ' || partition, 0))
LIMIT %(limit)s;
