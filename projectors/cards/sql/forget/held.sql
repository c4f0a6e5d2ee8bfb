-- The number of rows of a user, by table.
SELECT 'cards' AS table_name, count(*) AS held FROM cards WHERE user_id = %(user_id)s
UNION ALL SELECT 'statements', count(*) FROM statements WHERE user_id = %(user_id)s
UNION ALL SELECT 'remarks', count(*) FROM remarks WHERE user_id = %(user_id)s
UNION ALL SELECT 'arbitrations', count(*) FROM arbitrations WHERE user_id = %(user_id)s
UNION ALL SELECT 'card_update_log', count(*) FROM card_update_log WHERE user_id = %(user_id)s
UNION ALL SELECT 'tag_aliases', count(*) FROM tag_aliases WHERE user_id = %(user_id)s
UNION ALL SELECT 'relations', count(*) FROM relations WHERE user_id = %(user_id)s
UNION ALL SELECT 'card_counts', count(*) FROM card_counts WHERE user_id = %(user_id)s
UNION ALL SELECT 'words', count(*) FROM words WHERE user_id = %(user_id)s;
