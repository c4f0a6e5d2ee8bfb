-- The embedder of the present vector of each card. A card that waits for its vector, or has none any more, is left out.
SELECT card_id, model FROM (
    SELECT user_id, card_id, model FROM card_vectors_384 UNION ALL SELECT user_id, card_id, model FROM card_vectors_768
    UNION ALL SELECT user_id, card_id, model FROM card_vectors_1024
) held
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]);
