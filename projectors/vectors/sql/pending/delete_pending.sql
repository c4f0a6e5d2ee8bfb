DELETE FROM pending_vectors p USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS done(user_id, card_id)
WHERE p.user_id = done.user_id AND p.card_id = done.card_id;
