-- Locks partitions with news until the session ends. Partitions of another extractor are skipped. The server ends a
-- session that holds a partition and is silent for idle_ms: its process is stopped, and another extractor goes on.
WITH news AS MATERIALIZED (
    SELECT c.partition FROM log.checkpoints c JOIN log.heads h USING (partition)
    WHERE c.processor = %(processor)s AND c.generation = %(generation)s AND h.position > c.position
      AND (%(partitions)s::smallint[] IS NULL OR c.partition = ANY (%(partitions)s::smallint[]))
      AND c.partition <> ALL (%(held)s::smallint[])
    ORDER BY c.moved_at NULLS FIRST, c.partition
)
SELECT partition, set_config('idle_session_timeout', %(idle_ms)s::text, false) FROM news
WHERE pg_try_advisory_lock(hashtextextended('cardlog extractor ' || partition, 0))
LIMIT %(limit)s;
