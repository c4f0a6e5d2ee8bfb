-- True when a user has vectors of an embedder, on cards of the modes asked for. It runs only while that embedder is missing.
SELECT EXISTS (
    SELECT FROM (
        SELECT card_id FROM vectors.card_vectors_384 WHERE user_id = %(user_id)s AND model = %(model)s
        UNION ALL SELECT card_id FROM vectors.card_vectors_768 WHERE user_id = %(user_id)s AND model = %(model)s
        UNION ALL SELECT card_id FROM vectors.card_vectors_1024 WHERE user_id = %(user_id)s AND model = %(model)s
    ) v
    WHERE EXISTS (
        SELECT FROM cards.cards c
        WHERE c.user_id = %(user_id)s AND c.card_id = v.card_id
          AND (coalesce(ARRAY[coalesce(c.mode,'general'),c.project_id||E'\x1f'||c.mode]&&%(modes)s::text[],true)
               OR c.mode<>ALL(%(named)s::text[]))
    )
);
