-- Deletes every row of a user.
WITH a AS (DELETE FROM cards WHERE user_id = %(user_id)s),
     b AS (DELETE FROM statements WHERE user_id = %(user_id)s),
     c AS (DELETE FROM remarks WHERE user_id = %(user_id)s),
     d AS (DELETE FROM arbitrations WHERE user_id = %(user_id)s),
     e AS (DELETE FROM card_update_log WHERE user_id = %(user_id)s),
     f AS (DELETE FROM tag_aliases WHERE user_id = %(user_id)s),
     g AS (DELETE FROM relations WHERE user_id = %(user_id)s),
     h AS (DELETE FROM card_counts WHERE user_id = %(user_id)s)
DELETE FROM words WHERE user_id = %(user_id)s;
