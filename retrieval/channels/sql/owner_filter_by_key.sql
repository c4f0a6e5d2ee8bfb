-- Keys are hashed together with their user, so what they find is the user's but for a rare accident. IS TRUE keeps the
-- planner from looking all cards of the user up as well, only to find that it holds (8 ms of 10 where there are 80,000),
-- or all cards of a kind (6 ms of 7 in a table whose keys wait to be sorted in).
(c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[])) IS TRUE
