SELECT partition, position FROM log.checkpoints
WHERE processor = %(processor)s AND generation = %(generation)s
ORDER BY partition;
