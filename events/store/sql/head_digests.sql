SELECT partition, position, digest FROM log.heads ORDER BY partition;
