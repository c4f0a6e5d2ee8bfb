-- The row a runner holds while it folds this partition: whoever has it is alone with the partition's users.
SELECT position FROM log.checkpoints
WHERE processor = %(processor)s AND generation = %(generation)s AND partition = %(partition)s
FOR NO KEY UPDATE;
