-- Two 64-bit sums over every column. The sums do not depend on the order of the rows. Vectors count by their exact bits.
WITH line AS (
    SELECT 'card_vectors_384' AS name, user_id, card_id, model, vector_send(embedding) AS bits FROM card_vectors_384
    UNION ALL SELECT 'card_vectors_768', user_id, card_id, model, vector_send(embedding) FROM card_vectors_768
    UNION ALL SELECT 'card_vectors_1024', user_id, card_id, model, vector_send(embedding) FROM card_vectors_1024
), content AS (
    SELECT name, (user_id, card_id, model)::text || encode(bits, 'base64') AS content FROM line
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM content GROUP BY name ORDER BY name;
