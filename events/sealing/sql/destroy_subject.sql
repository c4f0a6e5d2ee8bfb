SELECT sealing.destroy_subject(%(user_id)s);
