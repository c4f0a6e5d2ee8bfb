SELECT user_id AS owner, team_id FROM "references".members WHERE member = %(member)s ORDER BY user_id;
