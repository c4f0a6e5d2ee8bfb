-- name: claim_due
-- Takes due messages, at most `each` of a webhook and `of_user` of a user, and none of busy webhooks and users. The next
-- try is set now, so that a message whose worker dies is tried again. The delay triples from 30 s up to 12 h.
UPDATE log.deliveries d SET attempts = d.attempts + 1, tried_at = now(),
    due_at = now() + least(interval '12 hours', interval '30 seconds' * 3 ^ least(d.attempts, 10))
FROM (
    SELECT o.user_id, o.webhook_id, o.position FROM (
        SELECT user_id, webhook_id, position,
               row_number() OVER (PARTITION BY user_id, webhook_id ORDER BY due_at, position) AS place,
               row_number() OVER (PARTITION BY user_id ORDER BY due_at, position) AS of_user
        FROM log.deliveries
        WHERE state = 'pending' AND due_at <= now() AND webhook_id <> ALL (%(busy)s::uuid[])
          AND user_id <> ALL (%(busy_users)s::text[])
    ) o
    JOIN log.deliveries l USING (user_id, webhook_id, position)
    WHERE o.place <= %(each)s AND o.of_user <= %(of_user)s AND l.state = 'pending' AND l.due_at <= now()
    ORDER BY l.due_at LIMIT %(limit)s FOR UPDATE OF l SKIP LOCKED
) c
WHERE (d.user_id, d.webhook_id, d.position) = (c.user_id, c.webhook_id, c.position)
RETURNING d.user_id, d.webhook_id, d.partition, d.position, d.attempts;

-- name: event
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = %(position)s;

-- name: users_with_webhooks
SELECT DISTINCT user_id FROM log.events
WHERE partition = ANY (%(partitions)s::smallint[]) AND user_id = ANY (%(users)s::text[]) AND stream = %(stream)s;

-- name: add_deliveries
INSERT INTO log.deliveries (user_id, webhook_id, partition, position)
SELECT * FROM unnest(%(users)s::text[], %(webhooks)s::uuid[], %(partitions)s::smallint[], %(positions)s::bigint[])
ON CONFLICT DO NOTHING;

-- name: drop_delivery
DELETE FROM log.deliveries
WHERE user_id = %(user_id)s AND webhook_id = %(webhook_id)s AND position = %(position)s;

-- name: drop_webhook
DELETE FROM log.deliveries WHERE user_id = %(user_id)s AND webhook_id = %(webhook_id)s;

-- name: drop_old
DELETE FROM log.deliveries WHERE state = 'dead' AND tried_at < now() - interval '30 days';

-- name: delivery_failed
UPDATE log.deliveries SET last_error = %(error)s,
    state = CASE WHEN attempts >= %(attempts)s THEN 'dead' ELSE state END
WHERE user_id = %(user_id)s AND webhook_id = %(webhook_id)s AND position = %(position)s;
