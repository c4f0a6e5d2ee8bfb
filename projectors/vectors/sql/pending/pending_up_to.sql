SELECT count(*) FROM vectors.pending_vectors p
JOIN unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS head(partition, position) USING (partition)
WHERE p.failure IS NULL AND p.position <= head.position;
