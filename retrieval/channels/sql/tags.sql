-- BM25 over every hit. A term's document frequency is the number of hits that hold it, which is exact:
-- a card that holds a term of the question is a hit by definition.
WITH hit AS MATERIALIZED (
    SELECT c.card_id, c.term_keys, c.own_terms,
           c.own_terms + %(before)s::float8 * (cardinality(c.term_keys) - c.own_terms) AS length
    FROM cards.cards c
    WHERE c.term_keys && %(keys)s::bigint[] AND {visible}
), occurrence AS (
    SELECT hit.card_id, key, hit.length,
           sum(CASE WHEN place <= hit.own_terms THEN 1 ELSE %(before)s::float8 END) AS frequency
    FROM hit CROSS JOIN LATERAL unnest(hit.term_keys) WITH ORDINALITY AS term(key, place)
    WHERE key = ANY (%(keys)s::bigint[])
    GROUP BY hit.card_id, key, hit.length
), weight AS (
    SELECT key, asked.weight * ln(1 + (greatest(totals.cards, count(*)) - count(*) + 0.5) / (count(*) + 0.5)) AS idf
    FROM occurrence JOIN unnest(%(keys)s::bigint[], %(weights)s::float8[]) AS asked(key, weight) USING (key)
    CROSS JOIN (
        SELECT coalesce(max(cards), 0) AS cards FROM cards.card_counts WHERE user_id = %(user_id)s) totals
    GROUP BY key, asked.weight, totals.cards
), average AS (
    SELECT coalesce(max(terms::float8 / nullif(cards, 0)), 1) AS length
    FROM cards.card_counts WHERE user_id = %(user_id)s
)
SELECT o.card_id,
       sum(w.idf * o.frequency * (%(k1)s::float8 + 1)
           / (o.frequency + %(k1)s::float8 * (1 - %(b)s::float8 + %(b)s::float8 * o.length / a.length)))::float8 AS score
FROM occurrence o JOIN weight w USING (key) CROSS JOIN average a
GROUP BY o.card_id
ORDER BY score DESC, o.card_id
LIMIT %(limit)s;
