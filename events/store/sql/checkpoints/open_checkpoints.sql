INSERT INTO log.checkpoints (processor, generation, partition)
SELECT %(processor)s, %(generation)s, partition FROM log.heads
ON CONFLICT DO NOTHING;
