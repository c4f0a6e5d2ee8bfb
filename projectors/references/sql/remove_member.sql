DELETE FROM members WHERE user_id = %(user_id)s AND member = %(member)s;
