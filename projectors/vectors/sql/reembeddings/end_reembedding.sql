UPDATE reembeddings SET done_at = clock_timestamp(), cards = %(cards)s
WHERE user_id = %(user_id)s AND name = %(name)s AND project_id = %(project_id)s;
