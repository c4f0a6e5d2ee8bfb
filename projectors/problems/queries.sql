-- name: digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'entries' AS name, n::text AS content FROM entries n
    UNION ALL SELECT 'problems', p::text FROM problems p
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: folded_events
-- The events that the tables hold of a user, in order.
SELECT {event e}
FROM entries n JOIN log.events e ON e.partition = %(partition)s AND e.position = n.position
WHERE n.user_id = %(user_id)s
ORDER BY e.position;

-- name: held
-- The number of rows of a user, by table.
SELECT 'entries', count(*) FROM entries WHERE user_id = %(user_id)s
UNION ALL SELECT 'problems', count(*) FROM problems WHERE user_id = %(user_id)s;

-- name: add_entry
INSERT INTO entries (user_id, event_id, position) VALUES (%(user_id)s, %(event_id)s, %(position)s);

-- name: add_problem
INSERT INTO problems (user_id, problem_id, project_id, mode, description, status, priority, since, until, opened_at,
                      updated_at, closed_at, resolution, attempts, turn_ids, version, position)
VALUES (%(user_id)s, %(problem_id)s, %(project_id)s, %(mode)s, %(description)s, %(status)s, %(priority)s, %(since)s,
        %(until)s, %(opened_at)s, %(updated_at)s, %(closed_at)s, %(resolution)s, %(attempts)s, %(turn_ids)s, %(version)s,
        %(position)s);

-- name: forget_user
WITH problems AS (DELETE FROM problems WHERE user_id = %(user_id)s)
DELETE FROM entries WHERE user_id = %(user_id)s;

-- name: remove_entries
DELETE FROM entries WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);

-- name: remove_problems
DELETE FROM problems WHERE user_id = %(user_id)s;
