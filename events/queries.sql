-- name: curator_acts
-- The events with some idempotency keys, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.dedupe_key = ANY (%(keys)s::text[])
ORDER BY e.position;

-- name: living_sources
-- The cards of a user that hold: neither withdrawn, nor retracted, nor superseded. A relation retracts an event card.
SELECT card_id FROM cards.remembered_cards
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]) AND NOT retracted AND superseded_at IS NULL
  AND card_id NOT IN (SELECT r.to_card FROM cards.remembered_relations r
                      WHERE r.user_id = %(user_id)s AND r.predicate = 'retracts' AND NOT r.implied);

-- name: webhook_counts
SELECT webhook_id, count(*) FILTER (WHERE state = 'pending'), count(*) FILTER (WHERE state = 'dead'),
       (array_agg(last_error ORDER BY tried_at DESC) FILTER (WHERE last_error IS NOT NULL))[1]
FROM log.deliveries WHERE user_id = %(user_id)s GROUP BY webhook_id;

-- name: webhook_entries
-- The events of the webhooks of some users, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = ANY (%(partitions)s::smallint[]) AND e.user_id = ANY (%(users)s::text[]) AND e.stream = %(stream)s
ORDER BY e.user_id, e.version;
