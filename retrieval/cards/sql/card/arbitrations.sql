SELECT a.arbitration_id, a.project_id, a.entity, a.concept_key, a.old_card, a.new_card, a.old_value, a.new_value,
       a.reason, a.evidence, a.status, a.opened_at, a.settled_at
FROM cards.arbitrations a
WHERE a.user_id = %(user_id)s
  AND (%(arbitration)s::uuid IS NULL OR a.arbitration_id = %(arbitration)s::uuid)
  AND (%(status)s::text[] IS NULL OR a.status = ANY (%(status)s::text[]))
  AND (%(projects)s::text[] IS NULL OR a.project_id = ANY (%(projects)s::text[]))
  AND (%(reached_projects)s::text[] IS NULL OR a.project_id = ANY (%(reached_projects)s::text[]))
  AND (%(reached_modes)s::text[] IS NULL OR NOT EXISTS (
        SELECT FROM cards.cards c
        WHERE c.user_id = a.user_id AND c.kind = 'state' AND c.card_id IN (a.old_card, a.new_card)
          AND coalesce(c.mode, 'general') <> ALL (%(reached_modes)s::text[])))
  AND (%(before)s::uuid IS NULL OR a.arbitration_id < %(before)s::uuid)
ORDER BY a.arbitration_id DESC
LIMIT %(limit)s;
