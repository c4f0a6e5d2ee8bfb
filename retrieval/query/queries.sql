-- name: known_words
SELECT word FROM cards.words WHERE user_id = %(user_id)s AND word = ANY (%(words)s::text[]);
