-- The score is the number of the question's words that a card shares, and then its importance. A state that only
-- continues through the window (an old address) does not answer "what did I do then", so a state counts by its start.
-- In a long window the statement reads all cards that share a selective term, and the latest of the other cards.
WITH asked AS MATERIALIZED (
    {selective_terms}
), inside AS (
    (SELECT c.card_id, c.term_keys, c.importance, c.episode, c.occurred_at AS at, c.provenance
     FROM cards.cards c
     WHERE c.kind = 'event' AND {visible}
       AND c.occurred_at < coalesce(%(to)s::timestamptz, 'infinity')
       AND c.occurred_at >= coalesce(%(from)s::timestamptz, '-infinity')
     ORDER BY c.occurred_at DESC LIMIT %(looked_at)s)
    UNION
    -- Events that began before the window and continued into it.
    (SELECT c.card_id, c.term_keys, c.importance, c.episode, c.occurred_at, c.provenance
     FROM cards.cards c
     WHERE c.kind = 'event' AND {visible}
       AND c.occurred_until > %(from)s::timestamptz AND c.occurred_at < %(from)s::timestamptz
     ORDER BY c.occurred_until LIMIT %(looked_at)s)
    UNION
    (SELECT c.card_id, c.term_keys, 5, false, c.effective_at, c.provenance
     FROM cards.cards c
     WHERE c.kind = 'state' AND {visible}
       AND c.effective_at < coalesce(%(to)s::timestamptz, 'infinity')
       AND c.effective_at >= coalesce(%(from)s::timestamptz, '-infinity')
     ORDER BY c.effective_at DESC LIMIT %(looked_at)s)
    UNION
    (SELECT c.card_id, c.term_keys, coalesce(c.importance, 5), coalesce(c.episode, false),
            CASE c.kind WHEN 'event' THEN c.occurred_at ELSE c.effective_at END, c.provenance
     FROM cards.cards c
     WHERE c.term_keys && (SELECT array_agg(key) FROM asked WHERE NOT common) AND {visible_by_key}
       AND CASE c.kind WHEN 'event' THEN c.occurred_at ELSE c.effective_at END < coalesce(%(to)s::timestamptz, 'infinity')
       AND (CASE c.kind WHEN 'event' THEN c.occurred_at ELSE c.effective_at END
            >= coalesce(%(from)s::timestamptz, '-infinity')
            OR c.occurred_until > %(from)s::timestamptz))
)
SELECT card_id,
       (CASE provenance WHEN 'assistant_stated' THEN %(assistant)s::float8 ELSE 1 END * (
        (SELECT count(*) FROM asked WHERE asked.key = ANY (inside.term_keys))
        + coalesce(importance, 5) / 20.0 + CASE WHEN episode THEN 0 ELSE 0.25 END))::float8 AS score
FROM inside
ORDER BY score DESC, at, card_id
LIMIT %(limit)s;
