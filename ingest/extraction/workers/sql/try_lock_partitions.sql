-- Which of these partitions no other extractor owns; those are this transaction's until it ends.
SELECT c.partition FROM unnest(%(partitions)s::smallint[]) AS c(partition)
WHERE pg_try_advisory_xact_lock(hashtextextended('cardlog extractor ' || c.partition, 0));
