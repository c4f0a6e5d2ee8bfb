SELECT card_id, kind FROM cards.cards
WHERE user_id = %(user_id)s AND kind IN ('state', 'event', 'knowledge') AND card_id = ANY (%(cards)s::uuid[]);
