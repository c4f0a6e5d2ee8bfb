SELECT sealing.destroy_events(%(user_id)s, %(event_ids)s::uuid[]);
