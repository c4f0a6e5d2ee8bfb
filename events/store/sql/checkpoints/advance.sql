-- Compare-and-swap: only a checkpoint that is still at the start of the batch moves.
UPDATE log.checkpoints c SET position = moved.after, moved_at = clock_timestamp()
FROM unnest(%(partitions)s::smallint[], %(before)s::bigint[], %(after)s::bigint[]) AS moved(partition, before, after)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s
  AND c.partition = moved.partition AND c.position = moved.before;
