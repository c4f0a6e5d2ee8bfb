c.user_id = %(user_id)s
