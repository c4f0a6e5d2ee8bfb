-- The open arbitrations of these cards that were opened by the instant `at`.
SELECT a.arbitration_id, a.concept_key, a.entity, a.old_card, a.new_card, a.reason
FROM cards.arbitrations a
WHERE a.user_id = %(user_id)s AND a.status = 'open' AND a.opened_at <= %(at)s::timestamptz
  AND (a.old_card = ANY (%(cards)s::uuid[]) OR a.new_card = ANY (%(cards)s::uuid[]))
ORDER BY a.opened_at, a.arbitration_id;
