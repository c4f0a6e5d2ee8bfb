-- The keys of terms and of character pairs that at least `common` of a user's cards hold. Counting stops there.
SELECT key
FROM unnest(%(terms)s::integer[]) key
WHERE (SELECT count(*) FROM (
           SELECT FROM cards.cards holder
           WHERE holder.term_keys @> ARRAY[key] AND (holder.user_id = %(user_id)s) IS TRUE
           LIMIT %(common)s
       ) up_to) >= %(common)s
UNION ALL
SELECT key
FROM unnest(%(pairs)s::integer[]) key
WHERE (SELECT count(*) FROM (
           SELECT FROM cards.cards holder
           WHERE holder.pair_keys @> ARRAY[key] AND (holder.user_id = %(user_id)s) IS TRUE
           LIMIT %(common)s
       ) up_to) >= %(common)s;
