DELETE FROM card_statements WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);
