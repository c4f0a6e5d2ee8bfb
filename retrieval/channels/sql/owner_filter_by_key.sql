-- A key is hashed together with its user, so it finds another user's card only after a rare hash collision. IS TRUE
-- keeps the planner from using this condition as a second index lookup. That lookup would read all cards of the user
-- (8 ms of 10 with 80,000 cards), or all cards of a kind (6 ms of 7 while the GIN index has a pending list).
(c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[])) IS TRUE
