-- The number of rows of a user, by table.
SELECT 'entries', count(*) FROM entries WHERE user_id = %(user_id)s
UNION ALL SELECT 'problems', count(*) FROM problems WHERE user_id = %(user_id)s;
