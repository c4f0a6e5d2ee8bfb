-- The number of rows of a user, by table.
SELECT 'objects', count(*) FROM objects WHERE user_id = %(user_id)s
UNION ALL SELECT 'proposals', count(*) FROM proposals WHERE user_id = %(user_id)s
UNION ALL SELECT 'members', count(*) FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s
UNION ALL SELECT 'kinds', count(*) FROM kinds WHERE user_id = %(user_id)s;
