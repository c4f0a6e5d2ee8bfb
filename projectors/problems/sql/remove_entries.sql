DELETE FROM entries WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);
