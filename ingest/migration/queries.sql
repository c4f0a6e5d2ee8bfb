-- name: extracted_after
-- What extractions made of a user's turns, above a position.
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND position > %(after)s AND type = ANY (%(types)s::text[])
ORDER BY position
LIMIT %(limit)s;

-- name: turns_of_keys
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND dedupe_key = ANY (%(keys)s::text[]);
