SELECT proposal_id, kind, key, project_id, team_id, op, confidence, quote, turn_ids, status, proposed_at, decided_at,
       decided_by
FROM "references".proposals
WHERE user_id = %(user_id)s AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(projects)s::text[] IS NULL OR coalesce(project_id, 'default') = ANY (%(projects)s::text[]))
  AND (%(before)s::uuid IS NULL OR proposal_id < %(before)s)
ORDER BY proposal_id DESC
LIMIT %(limit)s;
