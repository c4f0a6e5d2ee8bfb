SELECT u.card_id, u.changed_at, u.old_value, u.new_value, u.old_content, u.reason, u.event_id
FROM {updates} u
WHERE u.user_id = %(user_id)s AND u.card_id = ANY (%(cards)s::uuid[])
ORDER BY u.changed_at, u.event_id;
