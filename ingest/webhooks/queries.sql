-- name: claim_due
-- Takes due messages: at most `of_webhook` of a webhook, `of_user` of a user and `of_tenant` of a tenant, with those on their
-- way. `webhooks`, `users` and `tenants` name these, one entry a message. Who has the fewest messages on their way comes first:
-- a tenant, then a user, then a webhook. A webhook with a message that was tried and not delivered comes after its equals.
-- The next try is set now, so that a message whose worker dies is tried again. The delay triples from 30 s up to 12 h.
UPDATE log.deliveries d SET attempts = d.attempts + 1, tried_at = now(),
    due_at = now() + least(interval '12 hours', interval '30 seconds' * 3 ^ least(d.attempts, 10))
FROM (
    SELECT user_id, webhook_id, position FROM (
        SELECT *, cardinality(array_positions(%(tenants)s::text[], tenant))
               + row_number() OVER (PARTITION BY tenant ORDER BY user_place, tried, due_at, position) AS tenant_place
        FROM (
            SELECT *, cardinality(array_positions(%(users)s::text[], user_id))
                   + row_number() OVER (PARTITION BY user_id ORDER BY tried, place, due_at, position) AS user_place
            FROM (
                SELECT *, log.tenant_of(user_id) AS tenant, EXISTS (
                    SELECT FROM log.deliveries t
                    WHERE (t.user_id, t.webhook_id) = (w.user_id, w.webhook_id) AND t.state = 'pending' AND t.attempts > 0
                ) AS tried
                FROM (
                    SELECT user_id, webhook_id, position, due_at, cardinality(array_positions(%(webhooks)s::uuid[], webhook_id))
                           + row_number() OVER (PARTITION BY user_id, webhook_id ORDER BY due_at, position) AS place
                    FROM log.deliveries
                    WHERE state = 'pending' AND due_at <= now()
                ) w
                WHERE place <= %(of_webhook)s
            ) w
        ) u
        WHERE user_place <= %(of_user)s
    ) o
    JOIN log.deliveries l USING (user_id, webhook_id, position)
    WHERE tenant_place <= %(of_tenant)s AND l.state = 'pending' AND l.due_at <= now()
    ORDER BY tenant_place, tried, o.due_at LIMIT %(limit)s FOR UPDATE OF l SKIP LOCKED
) c
WHERE (d.user_id, d.webhook_id, d.position) = (c.user_id, c.webhook_id, c.position)
RETURNING d.user_id, d.webhook_id, d.partition, d.position, d.attempts;

-- name: event
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = %(position)s;

-- name: events_of_webhooks
-- The events of stretches of partitions whose users have webhooks. OFFSET 0 keeps one index probe for each event.
SELECT e.user_id, e.partition, e.position, e.type
FROM unnest(%(partitions)s::smallint[], %(after)s::bigint[], %(last)s::bigint[]) AS c(partition, after, last)
JOIN log.events e ON e.partition = c.partition AND e.position > c.after AND e.position <= c.last
WHERE EXISTS (SELECT FROM log.events w WHERE w.partition = e.partition AND w.user_id = e.user_id
              AND w.stream = %(stream)s::text OFFSET 0)
ORDER BY e.partition, e.position;

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
