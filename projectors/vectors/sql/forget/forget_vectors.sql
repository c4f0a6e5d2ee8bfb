-- Deletes the vectors of a user: those of some events, or all of them for NULL.
WITH a AS (DELETE FROM card_vectors_384 WHERE user_id = %(user_id)s
               AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]))),
     b AS (DELETE FROM card_vectors_768 WHERE user_id = %(user_id)s
               AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[])))
DELETE FROM card_vectors_1024 WHERE user_id = %(user_id)s
    AND (%(events)s::uuid[] IS NULL OR card_id = ANY (%(events)s::uuid[]));
