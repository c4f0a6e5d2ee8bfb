-- Conflicts that were open at an instant and touch these cards; one that was settled since counts for what was known then.
SELECT a.arbitration_id, a.concept_key, a.entity, a.old_card, a.new_card, a.old_value, a.new_value, a.reason
FROM cards.arbitrations a
WHERE a.user_id = %(user_id)s
  AND (a.old_card = ANY (%(cards)s::uuid[]) OR a.new_card = ANY (%(cards)s::uuid[]))
  AND a.opened_at <= %(at)s::timestamptz
  AND (a.status = 'open' OR a.settled_at > %(known_at)s::timestamptz)
ORDER BY a.opened_at, a.arbitration_id;
