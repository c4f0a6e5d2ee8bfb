-- The entries of a user, the latest first.
SELECT queue_id, status, position, queued_at, entry::text AS entry FROM core.queue
WHERE user_id = %(user_id)s AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY position DESC
LIMIT 1000;
