-- The document as the tables have it, with the checkpoint of the tables. One statement, so both are of one moment.
SELECT folded.position AS folded, d.version, d.position, d.document::text AS document, d.marks::text AS marks, d.updated_at
FROM (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS position
) folded
LEFT JOIN documents d ON d.user_id = %(user_id)s;
