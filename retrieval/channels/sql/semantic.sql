-- An exact scan of the user's own vectors; cosine distance, so the score is the cosine. Distances are
-- sorted without the vectors themselves, and cards are looked up one by one, nearest first, until
-- enough of them may answer: LATERAL with its LIMIT keeps the planner from joining all of them.
SELECT near.card_id, 1 - near.distance AS score
FROM (
    SELECT v.card_id, v.embedding <=> %(vector)s::vector AS distance
    FROM {vectors} v
    WHERE v.user_id = %(user_id)s AND v.model = %(model)s
    ORDER BY distance, v.card_id
    OFFSET 0
) near
CROSS JOIN LATERAL (
    SELECT FROM cards.cards c
    WHERE c.user_id = %(user_id)s AND c.card_id = near.card_id AND c.kind = ANY (%(kinds)s::text[])
      AND NOT c.retracted
      AND (%(projects)s::text[] IS NULL OR c.project_id = ANY (%(projects)s::text[]))
      AND (c.kind <> 'state'
           OR ((%(valid_until)s::timestamptz IS NULL OR c.effective_at <= %(valid_until)s::timestamptz)
               AND (%(valid_from)s::timestamptz IS NULL OR c.superseded_at IS NULL
                    OR c.superseded_at > %(valid_from)s::timestamptz)))
      AND (%(until)s::timestamptz IS NULL OR coalesce(c.occurred_at, c.effective_at) <= %(until)s::timestamptz)
      AND (%(known_at)s::timestamptz IS NULL OR c.created_at <= %(known_at)s::timestamptz)
    LIMIT 1
) c
ORDER BY near.distance, near.card_id
LIMIT %(limit)s;
