-- The edges of these predicates that are reachable from the cards, in both directions. Each card is visited once.
WITH RECURSIVE near(card) AS (
    SELECT unnest(%(cards)s::uuid[])
    UNION
    SELECT next.card FROM near
    CROSS JOIN LATERAL (
        SELECT r.from_card AS card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.to_card = near.card AND r.predicate = ANY (%(predicates)s::text[])
          AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
        UNION ALL
        SELECT r.to_card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.from_card = near.card AND r.predicate = ANY (%(predicates)s::text[])
          AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
    ) next
)
SELECT r.from_card, r.to_card, r.predicate, r.reason, r.confidence, r.implied, r.refused, r.actor, r.event_id, r.created_at
FROM near JOIN {relations} r ON r.user_id = %(user_id)s AND r.from_card = near.card
WHERE r.predicate = ANY (%(predicates)s::text[]) AND NOT r.refused
  AND r.implied = ANY (%(implied)s::boolean[])
  AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)
ORDER BY r.created_at, r.event_id, r.from_card, r.to_card
LIMIT %(limit)s;
