WITH documents AS (DELETE FROM documents WHERE user_id = %(user_id)s),
     snapshots AS (DELETE FROM snapshots WHERE user_id = %(user_id)s),
     changes AS (DELETE FROM changes WHERE user_id = %(user_id)s),
     queue AS (DELETE FROM queue WHERE user_id = %(user_id)s),
     statements AS (DELETE FROM card_statements WHERE user_id = %(user_id)s)
DELETE FROM card_remarks WHERE user_id = %(user_id)s;
