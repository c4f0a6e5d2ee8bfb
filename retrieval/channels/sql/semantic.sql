-- An exact scan of the user's own vectors by cosine distance, so the score is the cosine. The sort holds only the
-- distances and not the vectors. Cards are looked up one by one, nearest first, until enough of them may answer.
-- LATERAL with LIMIT keeps the planner from joining all cards.
SELECT card_id, score
FROM (
    SELECT near.card_id,
           (1 - near.distance) * CASE c.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS score
    FROM (
        SELECT v.card_id, v.embedding <=> %(vector)s::vector AS distance
        FROM {vectors} v
        WHERE v.user_id = %(user_id)s AND v.model = %(model)s
        ORDER BY distance, v.card_id
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
