c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[])
