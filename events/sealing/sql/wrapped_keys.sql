SELECT user_id, wrapped FROM sealing.subject_keys WHERE user_id = ANY (%(users)s::text[]);
