-- name: turns_of_keys
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND dedupe_key = ANY (%(keys)s::text[]);
