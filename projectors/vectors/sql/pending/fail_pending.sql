UPDATE pending_vectors SET failure = %(failure)s WHERE user_id = %(user_id)s AND card_id = %(card_id)s;
