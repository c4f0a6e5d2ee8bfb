-- The number of rows of a user, by table.
SELECT 'card_vectors' AS table_name, (SELECT count(*) FROM card_vectors_384 WHERE user_id = %(user_id)s)
                     + (SELECT count(*) FROM card_vectors_768 WHERE user_id = %(user_id)s)
                     + (SELECT count(*) FROM card_vectors_1024 WHERE user_id = %(user_id)s);
