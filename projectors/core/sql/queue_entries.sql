-- The open entries of a user, and the entries with these ids.
SELECT queue_id, status, position, queued_at, entry::text AS entry FROM queue
WHERE user_id = %(user_id)s AND (status = 'open' OR queue_id = ANY (%(ids)s::uuid[]));
