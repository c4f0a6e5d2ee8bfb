SELECT model, count(*) FROM (
    SELECT model FROM vectors.card_vectors_384 UNION ALL SELECT model FROM vectors.card_vectors_768
    UNION ALL SELECT model FROM vectors.card_vectors_1024
) AS held GROUP BY model ORDER BY model;
