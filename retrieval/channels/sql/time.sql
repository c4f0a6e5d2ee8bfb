-- Score: how much of the question's words a card shares, then how much it matters. What merely goes on through
-- the whole stretch (an old address) is no answer to "what did I do then", so states count by when they began.
WITH inside AS (
    SELECT c.card_id, c.term_keys, c.importance, c.episode, c.occurred_at AS at
    FROM cards.cards c
    WHERE c.kind = 'event' AND {visible}
      AND (%(to)s::timestamptz IS NULL OR c.occurred_at < %(to)s::timestamptz)
      AND (%(from)s::timestamptz IS NULL OR c.occurred_at >= %(from)s::timestamptz
           OR c.occurred_until > %(from)s::timestamptz)
    UNION ALL
    SELECT c.card_id, c.term_keys, 5, false, c.effective_at
    FROM cards.cards c
    WHERE c.kind IN ('state', 'knowledge') AND {visible}
      AND (%(to)s::timestamptz IS NULL OR c.effective_at < %(to)s::timestamptz)
      AND (%(from)s::timestamptz IS NULL OR c.effective_at >= %(from)s::timestamptz)
)
SELECT card_id,
       ((SELECT count(DISTINCT key) FROM unnest(term_keys) key WHERE key = ANY (%(keys)s::bigint[]))
        + coalesce(importance, 5) / 20.0 + CASE WHEN episode THEN 0 ELSE 0.25 END)::float8 AS score
FROM inside
ORDER BY score DESC, at, card_id
LIMIT %(limit)s;
