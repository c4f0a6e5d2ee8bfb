SELECT c.card_id, c.kind FROM cards.cards c
WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event', 'knowledge') AND c.card_id = ANY (%(cards)s::uuid[]);
