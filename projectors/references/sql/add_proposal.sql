INSERT INTO proposals (user_id, proposal_id, kind, key, project_id, team_id, op, confidence, quote, turn_ids, status,
                       proposed_at, decided_at, decided_by, position)
VALUES (%(user_id)s, %(proposal_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(op)s, %(confidence)s, %(quote)s,
        %(turn_ids)s, %(status)s, %(proposed_at)s, NULL, NULL, %(position)s);
