-- BM25 over every hit. The document frequency of a term is the number of hits that hold it. The number is exact when
-- every word finds cards, because every card that holds a term of the question is then a hit. For an idle word it is
-- estimated from the share of the other words' hits that hold it.
-- When all words are common, a card must hold two of them, because most of a long memory holds one of them. When no
-- card holds two of them, each word finds cards again. In that case, and for a single common word, only the latest of
-- those cards are ranked: a common word tells little more than that.
WITH asked AS (
    {selective_terms}
), pair AS (
    SELECT a.key AS one, b.key AS other
    FROM asked a JOIN asked b ON a.key < b.key
    WHERE a.common AND NOT a.idle AND b.common AND NOT b.idle
), duo AS (
    SELECT DISTINCT ON (card_id) c.* FROM pair CROSS JOIN LATERAL (
        SELECT c.card_id, c.term_keys, c.own_terms, c.provenance FROM cards.cards c
        WHERE c.term_keys @> ARRAY[pair.one, pair.other] AND {visible_by_key}
    ) c
), found AS (
    SELECT * FROM duo
    UNION ALL
    (SELECT c.card_id, c.term_keys, c.own_terms, c.provenance FROM cards.cards c
     WHERE c.term_keys && (SELECT array_agg(key) FROM asked WHERE NOT idle) AND NOT EXISTS (SELECT FROM duo)
       AND {visible_by_key}
     ORDER BY coalesce(c.occurred_at, c.effective_at) DESC, c.card_id
     LIMIT CASE WHEN EXISTS (SELECT FROM asked WHERE common AND NOT idle) THEN %(ranked)s END)
), hit AS (
    SELECT card_id, term_keys[:own_terms] AS own, term_keys[own_terms + 1:] AS earlier,
           own_terms + %(before)s * (cardinality(term_keys) - own_terms) AS length,
           CASE provenance WHEN 'assistant_stated' THEN %(assistant)s ELSE 1 END AS share
    FROM found
), uses AS (
    SELECT card_id, key, length, share, times
    FROM hit CROSS JOIN asked CROSS JOIN LATERAL (
        SELECT cardinality(array_positions(own, key))
               + %(before)s * cardinality(array_positions(earlier, key)) AS times
        OFFSET 0 -- computes the value once, and not once for each use
    ) count
    WHERE times > 0
), total AS (
    SELECT coalesce(max(cards), 0)::float8 AS cards, coalesce(max(terms::float8 / nullif(cards, 0)), 1) AS length
    FROM cards.card_counts WHERE user_id = %(user_id)s
), weight AS (
    SELECT key, asked.weight * ln(1 + (greatest(total.cards - h.cards, 0) + 0.5) / (h.cards + 0.5)) AS idf
    FROM asked
    CROSS JOIN total
    JOIN (SELECT key, count(*)::float8 AS hits FROM uses GROUP BY key) u USING (key)
    CROSS JOIN LATERAL (
        SELECT CASE WHEN asked.idle OR asked.common AND EXISTS (SELECT FROM duo)
               THEN greatest(%(common)s, total.cards * u.hits / (SELECT count(*) FROM hit)) ELSE u.hits END AS cards
    ) h
)
SELECT card_id,
       sum(share * idf * times * (%(k1)s + 1)
           / (times + %(k1)s * (1 - %(b)s + %(b)s * uses.length / total.length)))
       AS score
FROM uses JOIN weight USING (key) CROSS JOIN total
GROUP BY card_id
ORDER BY score DESC, card_id
LIMIT %(limit)s;
