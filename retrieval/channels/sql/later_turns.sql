-- The latest turns that hold a word of a fact and were said after it, with the keys of their own terms. A word that very
-- many cards hold finds none.
WITH asked AS MATERIALIZED (
    {selective_terms}
)
SELECT c.card_id, c.term_keys[:least(c.own_terms, %(most)s)]
FROM cards.cards c
WHERE c.term_keys && (SELECT array_agg(key) FROM asked WHERE NOT common) AND {visible_by_key}
  AND c.kind = 'event' AND c.episode AND c.said_at > %(after)s
ORDER BY c.said_at DESC, c.card_id
LIMIT %(limit)s;
