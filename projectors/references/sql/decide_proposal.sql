UPDATE proposals SET status = %(status)s, decided_at = %(at)s, decided_by = %(by)s
WHERE user_id = %(user_id)s AND proposal_id = %(proposal_id)s AND status = 'waiting';
