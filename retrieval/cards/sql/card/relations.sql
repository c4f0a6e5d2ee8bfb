SELECT r.from_card, r.to_card, r.predicate, r.reason, r.confidence, r.implied, r.refused, r.actor, r.event_id, r.created_at
FROM {relations} r
WHERE r.user_id = %(user_id)s AND (r.from_card = %(card)s::uuid OR r.to_card = %(card)s::uuid)
  AND (%(predicate)s::text[] IS NULL OR r.predicate = ANY (%(predicate)s::text[]))
ORDER BY r.created_at, r.event_id, r.predicate, r.from_card, r.to_card;
