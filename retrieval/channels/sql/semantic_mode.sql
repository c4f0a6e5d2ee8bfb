-- For a mode that few cards of a user with many vectors have: all cards of the mode, compared exactly.
SELECT near.card_id, (1 - near.distance) * near.share AS score
FROM (
    SELECT c.card_id, v.embedding <=> %(vector)s::vector AS distance,
           CASE c.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS share
    FROM cards.cards c
    JOIN {vectors} v ON v.user_id = %(user_id)s AND v.card_id = c.card_id AND v.model = %(model)s
    WHERE c.mode = ANY (%(named)s::text[]) AND {visible}
) near
ORDER BY score DESC, near.card_id
LIMIT %(limit)s;
