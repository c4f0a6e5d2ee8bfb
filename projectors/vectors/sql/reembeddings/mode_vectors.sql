-- The vectors of a mode's cards by embedder. NULL: cards that wait for their vector. `modes` are the names that cards of
-- the mode may have: a name, or a project, U+001F and a name.
SELECT v.model, count(*) FROM (
    SELECT card_id, model FROM vectors.card_vectors_384 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, model FROM vectors.card_vectors_768 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, model FROM vectors.card_vectors_1024 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, NULL FROM vectors.pending_vectors WHERE user_id = %(user_id)s AND failure IS NULL
) v
JOIN cards.cards c ON c.user_id = %(user_id)s AND c.card_id = v.card_id
WHERE ARRAY[coalesce(c.mode, 'general'), c.project_id || E'\x1f' || c.mode] && %(modes)s::text[]
  AND (%(project_id)s::text IS NULL OR c.project_id = %(project_id)s)
GROUP BY v.model;
