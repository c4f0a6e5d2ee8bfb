DELETE FROM cards c
USING unnest(%(users)s::text[], %(kinds)s::text[], %(cards)s::uuid[]) AS gone(user_id, kind, card_id)
WHERE c.user_id = gone.user_id AND c.kind = gone.kind AND c.card_id = gone.card_id;
