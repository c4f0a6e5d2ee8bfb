SELECT card_id, term_keys[:least(own_terms, %(most)s)]
FROM cards.cards
WHERE user_id = %(user_id)s AND kind = ANY (ARRAY['state', 'event', 'knowledge', 'reference'])
  AND card_id = ANY (%(cards)s::uuid[]);
