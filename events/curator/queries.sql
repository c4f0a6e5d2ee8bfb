-- name: acts
-- The events with some idempotency keys, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.dedupe_key = ANY (%(keys)s::text[])
ORDER BY e.position;
