-- The card that a statement is part of now: a card of the same identity and the same turn. The statement may have had
-- its own card before.
SELECT c.card_id
FROM cards.statements own
JOIN log.events e ON e.partition = own.partition AND e.position = own.position
JOIN cards.statements s ON s.user_id = own.user_id AND s.identity = own.identity
JOIN cards.cards c ON c.user_id = s.user_id AND c.kind IN ('state', 'knowledge') AND c.card_id = s.event_id
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid
  AND c.turn_ids @> ARRAY(SELECT json_array_elements_text(e.data->'origin'->'turn_ids'))
ORDER BY lower(c.value) = lower(e.data->>'value') DESC, c.card_id
LIMIT 1;
