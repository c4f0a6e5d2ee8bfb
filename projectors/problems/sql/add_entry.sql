INSERT INTO entries (user_id, event_id, position) VALUES (%(user_id)s, %(event_id)s, %(position)s);
