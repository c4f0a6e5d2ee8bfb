-- name: entries_of
-- The events of a user's problems, in order: those that the table knows, and those above its checkpoint. One statement
-- sees one state of both. The concatenation keeps the plan on the positions. The index of users would read the whole
-- history of a user.
WITH folded AS (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'problems' AND c.partition = %(partition)s), 0) AS position
), place AS (
    SELECT n.position FROM problems.entries n WHERE n.user_id = %(user_id)s
    UNION
    SELECT e.position FROM folded JOIN log.events e ON e.partition = %(partition)s AND e.position > folded.position
    WHERE e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])
)
SELECT {event e}
FROM place JOIN log.events e ON e.partition = %(partition)s AND e.position = place.position AND e.user_id = %(user_id)s
ORDER BY e.position
LIMIT 20000;

-- name: problems_of
-- The present problems of a user as the table has them. `behind` is true when the log holds later events of the user that
-- may change problems. The statement entries_of then tells all of them, and says why the user's id is concatenated.
WITH folded AS (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'problems' AND c.partition = %(partition)s), 0) AS position
), behind AS (
    SELECT EXISTS (SELECT FROM folded JOIN log.events e ON e.partition = %(partition)s AND e.position > folded.position
                   WHERE e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])) AS behind
)
SELECT b.behind, p.user_id, p.problem_id, p.project_id, p.mode, p.description, p.status, p.priority, p.since,
       p.until, p.opened_at, p.updated_at, p.closed_at, p.resolution, p.attempts::text AS attempts, p.turn_ids, p.version, p.position
FROM behind b LEFT JOIN problems.problems p ON p.user_id = %(user_id)s
ORDER BY p.since, p.problem_id;

-- name: unfolded_entries
-- The events of a user's problems from the log alone, in order, with those that were withdrawn and what withdrew them.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
ORDER BY e.position
LIMIT 20000;

-- name: note_of
-- The event that tells in words what an event of a problem did.
SELECT event_id FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s AND causation_id = %(event_id)s
ORDER BY position
LIMIT 1;
