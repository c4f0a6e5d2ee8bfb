SELECT DISTINCT event_id FROM card_statements WHERE user_id = %(user_id)s AND position = ANY (%(positions)s::bigint[]);
