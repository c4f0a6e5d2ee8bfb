SELECT r.from_card, r.to_card, r.predicate
FROM {relations} r
WHERE r.user_id = %(user_id)s AND r.predicate = 'same_as' AND NOT r.refused
  AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz);
