SELECT user_id, wrapped FROM sealing.subject_keys WHERE user_id > %(after)s ORDER BY user_id LIMIT %(limit)s;
