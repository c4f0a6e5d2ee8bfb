-- The card that a statement is part of now: a card of the same identity and the same turn. The statement may have had
-- its own card before.
SELECT c.card_id
FROM cards.statements own
JOIN cards.statements s ON s.user_id = own.user_id AND s.identity = own.identity
JOIN cards.cards c ON c.user_id = s.user_id AND c.kind IN ('state', 'knowledge') AND c.card_id = s.event_id
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid
  AND c.turn_ids @> %(turn_ids)s::text[]
ORDER BY lower(c.value) = lower(%(value)s::text) DESC, c.card_id
LIMIT 1;
