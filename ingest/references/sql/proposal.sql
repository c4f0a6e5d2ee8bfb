SELECT kind, key, project_id, team_id, op, confidence, quote, turn_ids, status
FROM "references".proposals
WHERE user_id = %(user_id)s AND proposal_id = %(proposal_id)s;
