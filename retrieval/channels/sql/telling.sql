-- Which of the words asked for may find cards: not those that very many of the user's cards hold, unless there are no
-- others. They still count in the order of what the others find. Counting stops where a word is common, so this costs
-- the same whatever a user has said.
SELECT asked.key, asked.weight, asked.common, asked.common AND NOT bool_and(asked.common) OVER () AS idle
FROM (
    SELECT key, weight, %(common)s <= (
               SELECT count(*) FROM (
                   SELECT FROM cards.cards held
                   WHERE held.term_keys @> ARRAY[key] AND held.user_id = %(user_id)s
                   LIMIT %(common)s
               ) up_to
           ) AS common
    FROM unnest(%(keys)s::bigint[], %(weights)s::float8[]) AS every(key, weight)
    OFFSET 0 -- counted once, not once for each column that asks
) asked
