SELECT e.partition, e.position, e.digest
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS at(partition, position)
JOIN log.events e USING (partition, position);
