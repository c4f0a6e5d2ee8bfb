-- For a user who owns a large share of very many vectors. The statement walks the index of all signs, nearest first by
-- Hamming distance, until it has enough of this user's cards that may answer. It orders these cards by exact cosine.
SELECT near.card_id, (1 - (near.embedding <=> %(vector)s::vector)) * near.share AS score
FROM (
    SELECT v.card_id, v.embedding,
           CASE c.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS share
    FROM {vectors} v
    CROSS JOIN LATERAL (
        SELECT c.provenance FROM cards.cards c WHERE c.card_id = v.card_id AND {visible} LIMIT 1
    ) c
    WHERE v.user_id = %(user_id)s AND v.model = %(model)s
    ORDER BY v.signs <~> binary_quantize(%(vector)s::vector)::bit({dimension})
    LIMIT %(looked_at)s
) near
ORDER BY score DESC, near.card_id
LIMIT %(limit)s;
