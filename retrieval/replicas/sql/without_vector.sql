-- For each waiting read: true when cards of the token's events wait for their vector, and true when earlier cards of
-- the user do.
SELECT EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position BETWEEN w.since AND w.target) AS theirs,
       EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position < w.since) AS earlier
FROM unnest(%(users)s::text[], %(sinces)s::bigint[], %(targets)s::bigint[])
    WITH ORDINALITY AS w(user_id, since, target, number)
ORDER BY w.number;
