-- idle_ms is 0 when the session holds no other partition. A silent session without locks hinders nobody.
SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false),
       pg_advisory_unlock(hashtextextended('cardlog extractor ' || c.partition, 0))
FROM unnest(%(partitions)s::smallint[]) AS c(partition);
