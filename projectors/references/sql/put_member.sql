INSERT INTO members (user_id, member, team_id, since) VALUES (%(user_id)s, %(member)s, %(team_id)s, %(at)s)
ON CONFLICT (user_id, member) DO UPDATE SET since = excluded.since;
