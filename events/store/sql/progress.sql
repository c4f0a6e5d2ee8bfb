SELECT c.partition, c.position, h.position AS head
FROM log.checkpoints c JOIN log.heads h USING (partition)
WHERE c.processor = %(processor)s AND c.generation = %(generation)s;
