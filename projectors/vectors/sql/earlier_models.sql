-- The models of some vectors of a generation that an older build made. It had one embedder a mode.
SELECT DISTINCT model FROM (
    (SELECT model FROM card_vectors_384 LIMIT 1000) UNION ALL (SELECT model FROM card_vectors_768 LIMIT 1000)
    UNION ALL (SELECT model FROM card_vectors_1024 LIMIT 1000)
) AS some ORDER BY model;
