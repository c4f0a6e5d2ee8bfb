-- name: counts
SELECT webhook_id, count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'dead'),
       (array_agg(last_error ORDER BY tried_at DESC) FILTER (WHERE last_error IS NOT NULL))[1]
FROM log.deliveries WHERE user_id = %(user_id)s GROUP BY webhook_id;

-- name: entries
-- The events of the webhooks of some users, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = ANY (%(partitions)s::smallint[]) AND e.user_id = ANY (%(users)s::text[]) AND e.stream = %(stream)s
ORDER BY e.user_id, e.version;
