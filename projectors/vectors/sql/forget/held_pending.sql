SELECT count(*) FROM pending_vectors WHERE user_id = %(user_id)s;
