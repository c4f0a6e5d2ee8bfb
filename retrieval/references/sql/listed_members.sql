SELECT member FROM "references".members WHERE user_id = %(owner)s ORDER BY member;
