DELETE FROM card_update_log u
USING unnest(%(users)s::text[], %(cards)s::uuid[], %(events)s::uuid[]) AS gone(user_id, card_id, event_id)
WHERE u.user_id = gone.user_id AND u.card_id = gone.card_id AND u.event_id = gone.event_id;
