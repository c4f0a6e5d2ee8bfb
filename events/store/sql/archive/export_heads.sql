SELECT partition, position, encode(digest, 'hex') FROM log.heads WHERE position > 0 ORDER BY partition;
