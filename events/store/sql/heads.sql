SELECT partition, position FROM log.heads ORDER BY partition;
