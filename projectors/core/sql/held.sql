-- The number of rows of a user, by table.
SELECT 'documents', count(*) FROM documents WHERE user_id = %(user_id)s
UNION ALL SELECT 'snapshots', count(*) FROM snapshots WHERE user_id = %(user_id)s
UNION ALL SELECT 'changes', count(*) FROM changes WHERE user_id = %(user_id)s
UNION ALL SELECT 'queue', count(*) FROM queue WHERE user_id = %(user_id)s
UNION ALL SELECT 'statements', count(*) FROM card_statements WHERE user_id = %(user_id)s
UNION ALL SELECT 'remarks', count(*) FROM card_remarks WHERE user_id = %(user_id)s;
