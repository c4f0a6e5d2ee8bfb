SELECT status FROM cards.arbitrations WHERE user_id = %(user_id)s AND arbitration_id = %(arbitration)s::uuid;
