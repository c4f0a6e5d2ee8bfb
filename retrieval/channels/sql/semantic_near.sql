-- The nearest of very many vectors, most of which are the user's: walks the index of all signs, nearest first by Hamming distance, as far as it takes
-- to find enough of this user's cards that may answer, and puts those in the order of their exact cosine.
SELECT near.card_id, 1 - (near.embedding <=> %(vector)s::vector) AS score
FROM (
    SELECT v.card_id, v.embedding
    FROM {vectors} v
    CROSS JOIN LATERAL (
        SELECT FROM cards.cards c WHERE c.card_id = v.card_id AND {visible} LIMIT 1
    ) c
    WHERE v.user_id = %(user_id)s AND v.model = %(model)s
    ORDER BY v.signs <~> binary_quantize(%(vector)s::vector)::bit({dimension})
    LIMIT %(looked_at)s
) near
ORDER BY score DESC, near.card_id
LIMIT %(limit)s;
