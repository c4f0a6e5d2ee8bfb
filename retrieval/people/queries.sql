-- name: named_in
-- The cards that name a person, the last said first. A name that several people share counts where its turn also names
-- the person by a tie.
SELECT m.event_id FROM people.mentions m
WHERE m.user_id = %(user_id)s
  AND (m.handle = ANY (%(handles)s::text[])
       OR (m.handle = ANY (%(shared)s::text[])
           AND m.turn_id IN (SELECT t.turn_id FROM people.mentions t
                             WHERE t.user_id = %(user_id)s AND t.handle = ANY (%(tied)s::text[]))))
GROUP BY m.event_id
ORDER BY max(m.said_at) DESC, m.event_id DESC
LIMIT %(limit)s;

-- name: mentions_of
-- The handles that some cards name, each with the turn of its card.
SELECT m.event_id, m.handle, m.name, m.roles, m.turn_id FROM people.mentions m
WHERE m.user_id = %(user_id)s AND m.event_id = ANY (%(cards)s::uuid[])
ORDER BY m.event_id, m.handle;
