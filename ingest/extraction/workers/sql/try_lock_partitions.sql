-- Locks the partitions that no other extractor owns, until the transaction ends.
SELECT c.partition FROM unnest(%(partitions)s::smallint[]) AS c(partition)
WHERE pg_try_advisory_xact_lock(hashtextextended('cardlog extractor ' || c.partition, 0));
