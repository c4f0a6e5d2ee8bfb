SELECT c.user_id, c.card_id, c.own_terms
FROM reference_cards c
JOIN unnest(%(users)s::text[], %(cards)s::uuid[]) AS asked(user_id, card_id) USING (user_id, card_id);
