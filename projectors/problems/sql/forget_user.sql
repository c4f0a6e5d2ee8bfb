WITH problems AS (DELETE FROM problems WHERE user_id = %(user_id)s)
DELETE FROM entries WHERE user_id = %(user_id)s;
