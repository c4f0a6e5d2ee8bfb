UPDATE pending_vectors p SET waits_for = given.slot
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(slots)s::text[]) AS given(user_id, card_id, slot)
WHERE p.user_id = given.user_id AND p.card_id = given.card_id;
