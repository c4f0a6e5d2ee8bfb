-- The present problems of a user as the table has them. `behind` is true when the log holds later events of the user that
-- may change problems. The statement entries_of then tells all of them.
WITH folded AS (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'problems' AND c.partition = %(partition)s), 0) AS position
), behind AS (
    SELECT EXISTS (SELECT FROM folded JOIN log.events e ON e.partition = %(partition)s AND e.position > folded.position
                   WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])) AS behind
)
SELECT b.behind, p.user_id, p.problem_id, p.project_id, p.mode, p.description, p.status, p.priority, p.opened_at,
       p.updated_at, p.closed_at, p.resolution, p.attempts::text AS attempts, p.turn_ids, p.version, p.position
FROM behind b LEFT JOIN problems.problems p ON p.user_id = %(user_id)s
ORDER BY p.opened_at, p.problem_id;
