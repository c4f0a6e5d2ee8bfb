WITH asked AS (
    SELECT ordinal, word, grams::integer[] AS grams, probes::integer[] AS probes
    FROM unnest(%(words)s::text[], %(word_grams)s::text[], %(word_probes)s::text[])
         WITH ORDINALITY AS a(word, grams, probes, ordinal)
), near AS MATERIALIZED (
    -- The user's words nearest to each word of the question, by the share of their common trigrams.
    SELECT asked.ordinal, n.term_key, n.similarity
    FROM asked CROSS JOIN LATERAL (
        SELECT w.term_key, shared.count / (cardinality(asked.grams) + cardinality(w.gram_keys) - shared.count)::float8
                           AS similarity
        FROM cards.words w CROSS JOIN LATERAL (
            SELECT count(*) AS count FROM unnest(w.gram_keys) g WHERE g = ANY (asked.grams)) shared
        WHERE w.gram_keys && asked.probes AND (w.user_id = %(user_id)s) IS TRUE
        ORDER BY similarity DESC, w.word
        LIMIT 5
    ) n
    WHERE n.similarity >= %(least_word)s
), word AS MATERIALIZED (
    -- As in the tags channel: a frequent term finds no cards when another term does, and it still counts in the score.
    SELECT term_key, held >= %(common)s AND bool_or(held BETWEEN 1 AND %(common)s - 1) OVER () AS idle
    FROM (
        SELECT term_key, CASE WHEN term_key = ANY (%(known_common)s::integer[]) THEN %(common)s ELSE (
                   SELECT count(*) FROM (
                       SELECT FROM cards.cards holder
                       WHERE holder.term_keys @> ARRAY[near.term_key] AND (holder.user_id = %(user_id)s) IS TRUE
                       LIMIT %(common)s
                   ) up_to
               ) END AS held
        FROM (SELECT DISTINCT term_key FROM near) near
        OFFSET 0
    ) counted
), pair AS MATERIALIZED (
    SELECT pair_key, held >= %(common)s AND bool_or(held BETWEEN 1 AND %(common)s - 1) OVER () AS idle
    FROM (
        SELECT pair_key, CASE WHEN pair_key = ANY (%(known_common)s::integer[]) THEN %(common)s ELSE (
                   SELECT count(*) FROM (
                       SELECT FROM cards.cards holder
                       WHERE holder.pair_keys @> ARRAY[pair_key] AND (holder.user_id = %(user_id)s) IS TRUE
                       LIMIT %(common)s
                   ) up_to
               ) END AS held
        FROM unnest(%(pairs)s::integer[]) pair_key
        OFFSET 0
    ) counted
), total AS (
    SELECT greatest(count(*), 1) AS words FROM asked
), hit AS MATERIALIZED (
    SELECT c.card_id, c.term_keys, c.pair_keys, c.provenance
    FROM cards.cards c
    WHERE (c.term_keys && (SELECT coalesce(array_agg(term_key) FILTER (WHERE NOT idle), '{{}}') FROM word)
           OR c.pair_keys && (SELECT coalesce(array_agg(pair_key) FILTER (WHERE NOT idle), '{{}}') FROM pair))
      AND {visible_by_key}
), scored AS MATERIALIZED (
    SELECT hit.card_id, CASE hit.provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END AS share,
           (SELECT coalesce(sum(best), 0) / (SELECT words FROM total)
            FROM (SELECT max(near.similarity) AS best FROM near
                  WHERE near.term_key = ANY (hit.term_keys) GROUP BY near.ordinal) word) AS words,
           CASE WHEN cardinality(%(pairs)s::integer[]) = 0 THEN 0
                ELSE (SELECT count(*) FROM unnest(hit.pair_keys) p WHERE p = ANY (%(pairs)s::integer[]))
                     / cardinality(%(pairs)s::integer[])::float8 END AS pairs
    FROM hit
)
SELECT card_id, share * greatest(words, pairs)::float8 AS score
FROM scored
WHERE words > 0 OR pairs >= %(least_pairs)s
ORDER BY score DESC, card_id
LIMIT %(limit)s;
