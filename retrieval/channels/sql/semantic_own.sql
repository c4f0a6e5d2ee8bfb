-- For a user with many vectors. The statement reads all signs of the user from a covering index. It orders the nearest
-- by Hamming distance by their exact cosine. Cards are looked up nearest first, until enough of them may answer.
SELECT card_id, score
FROM (
    SELECT near.card_id,
           (1 - near.distance) * CASE c.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS score
    FROM (
        SELECT nearest.card_id, v.embedding <=> %(vector)s::vector AS distance
        FROM (
            SELECT own.card_id
            FROM {vectors} own
            WHERE own.user_id = %(user_id)s AND own.model = %(model)s
            ORDER BY (own.signs <~> binary_quantize(%(vector)s::vector)::bit({dimension})) + 0.0, own.card_id
            LIMIT %(looked_at)s
        ) nearest
        JOIN {vectors} v ON v.user_id = %(user_id)s AND v.card_id = nearest.card_id
        ORDER BY distance, nearest.card_id
        OFFSET 0
    ) near
    CROSS JOIN LATERAL (
        SELECT c.provenance FROM cards.cards c
        WHERE c.card_id = near.card_id AND {visible}
        LIMIT 1
    ) c
    ORDER BY near.distance, near.card_id
    LIMIT %(looked_up)s
) visible
ORDER BY score DESC, card_id
LIMIT %(limit)s;
