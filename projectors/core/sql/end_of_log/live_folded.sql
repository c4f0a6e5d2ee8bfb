-- The checkpoint of the tables.
SELECT coalesce((SELECT c.position FROM log.checkpoints c
                 JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                       AND g.status = 'live'
                 WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS folded;
