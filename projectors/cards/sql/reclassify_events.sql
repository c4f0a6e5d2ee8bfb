UPDATE cards c SET mode = given.mode
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(modes)s::text[]) AS given(user_id, card_id, mode)
WHERE c.user_id = given.user_id AND c.kind = 'event' AND c.card_id = given.card_id;
