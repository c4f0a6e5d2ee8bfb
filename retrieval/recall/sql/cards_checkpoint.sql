-- The checkpoint of the live card tables, in this snapshot.
SELECT coalesce((
    SELECT c.position FROM log.checkpoints c
    JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
    WHERE c.processor = 'cards' AND c.partition = %(partition)s), 0);
