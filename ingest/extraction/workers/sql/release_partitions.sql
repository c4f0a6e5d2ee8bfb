SELECT pg_advisory_unlock(hashtextextended('cardlog extractor ' || c.partition, 0))
FROM unnest(%(partitions)s::smallint[]) AS c(partition);
