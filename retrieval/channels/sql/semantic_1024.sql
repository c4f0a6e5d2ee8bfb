-- An exact scan of the user's own vectors; cosine distance, so the score is the cosine.
SELECT v.card_id, 1 - (v.embedding <=> %(vector)s::vector(1024)) AS score
FROM vectors.card_vectors_1024 v
JOIN cards.cards c ON c.user_id = v.user_id AND c.card_id = v.card_id AND c.kind = ANY (%(kinds)s::text[])
WHERE v.user_id = %(user_id)s AND v.model = %(model)s AND NOT c.retracted
  AND (%(projects)s::text[] IS NULL OR c.project_id = ANY (%(projects)s::text[]))
  AND (c.kind <> 'state'
       OR ((%(valid_until)s::timestamptz IS NULL OR c.effective_at <= %(valid_until)s::timestamptz)
           AND (%(valid_from)s::timestamptz IS NULL OR c.superseded_at IS NULL
                OR c.superseded_at > %(valid_from)s::timestamptz)))
  AND (%(until)s::timestamptz IS NULL OR coalesce(c.occurred_at, c.effective_at) <= %(until)s::timestamptz)
  AND (%(known_at)s::timestamptz IS NULL OR c.created_at <= %(known_at)s::timestamptz)
ORDER BY v.embedding <=> %(vector)s::vector(1024), v.card_id
LIMIT %(limit)s;
