DELETE FROM problems WHERE user_id = %(user_id)s;
