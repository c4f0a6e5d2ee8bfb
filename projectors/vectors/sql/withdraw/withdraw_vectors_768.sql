DELETE FROM card_vectors_768 v USING unnest(%(users)s::text[], %(cards)s::uuid[]) AS gone(user_id, card_id)
WHERE v.user_id = gone.user_id AND v.card_id = gone.card_id;
