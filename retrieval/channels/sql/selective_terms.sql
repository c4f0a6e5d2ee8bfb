-- The words of the question that may find cards. A word that very many of the user's cards hold is idle when another
-- word finds cards. An idle word still counts in the ranking. Counting stops where a word is common, so the cost does
-- not depend on the number of cards. A word that is known to be common is not counted again.
SELECT key, weight, held >= %(common)s AS common,
       held >= %(common)s AND bool_or(held BETWEEN 1 AND %(common)s - 1) OVER () AS idle
FROM (
    SELECT key, weight, CASE WHEN key = ANY (%(known_common)s::integer[]) THEN %(common)s ELSE (
               SELECT count(*) FROM (
                   SELECT FROM cards.cards c
                   WHERE c.term_keys @> ARRAY[key] AND (c.user_id = %(user_id)s) IS TRUE
                   LIMIT %(common)s
               ) u
           ) END AS held
    FROM unnest(%(keys)s::integer[], %(weights)s::float8[]) AS every(key, weight)
    OFFSET 0 -- counts once, and not once for each column that uses the number
) n
