-- name: told_of
-- The events about the people of a user, in order: those that the table knows, and those above its checkpoint, with the
-- latest cards above it. Read before the handles, so that nothing is missed when the checkpoint moves.
-- The concatenation keeps the plan on the positions. The index of users would read the whole history of a user.
WITH folded AS (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'people' AND c.partition = %(partition)s), 0) AS position
), place AS (
    SELECT n.position FROM people.entries n WHERE n.user_id = %(user_id)s
    UNION
    SELECT e.position FROM folded JOIN log.events e ON e.partition = %(partition)s AND e.position > folded.position
    WHERE e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])
    UNION
    SELECT latest.position FROM folded CROSS JOIN LATERAL (
        SELECT e.position FROM log.events e
        WHERE e.partition = %(partition)s AND e.position > folded.position
          AND e.user_id || '' = %(user_id)s AND e.type = ANY (%(card_types)s::text[])
        ORDER BY e.position DESC
        LIMIT %(cards)s
    ) latest
)
SELECT {event e}
FROM place JOIN log.events e ON e.partition = %(partition)s AND e.position = place.position AND e.user_id = %(user_id)s
ORDER BY e.position
LIMIT 20000;

-- name: unfolded
-- The same from the log alone, while there is no table.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = ANY (ARRAY(
    (SELECT n.position FROM log.events n
     WHERE n.partition = %(partition)s AND n.user_id = %(user_id)s AND n.type = ANY (%(types)s::text[])
     LIMIT 20000)
    UNION ALL
    (SELECT n.position FROM log.events n
     WHERE n.partition = %(partition)s AND n.user_id = %(user_id)s AND n.type = ANY (%(card_types)s::text[])
     ORDER BY n.position DESC
     LIMIT %(cards)s)
))
ORDER BY e.position;

-- name: handles_of
-- The handles of a user that may name people.
SELECT h.handle, h.name, h.certain, h.since, h.until, h.mentions FROM people.handles h WHERE h.user_id = %(user_id)s;

-- name: links_of
-- What the cards of a user say of the identity of two handles, once.
SELECT DISTINCT ON (l.one, l.other, l.kind) l.one, l.other, l.kind, l.quote
FROM people.links l WHERE l.user_id = %(user_id)s
ORDER BY l.one, l.other, l.kind, l.event_id;

-- name: ties_of
-- The ties that these cards of a user say.
SELECT m.event_id, m.handle FROM people.mentions m
WHERE m.user_id = %(user_id)s AND m.event_id = ANY (%(retracted)s::uuid[]) AND 'tied' = ANY (m.roles);
