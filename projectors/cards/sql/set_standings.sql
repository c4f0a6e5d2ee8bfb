UPDATE cards c
SET event_status = standing.event_status, superseded_at = standing.superseded_at, retracted = standing.retracted
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(statuses)s::text[], %(instants)s::timestamptz[],
            %(retracted)s::boolean[]) AS standing(user_id, card_id, event_status, superseded_at, retracted)
WHERE c.user_id = standing.user_id AND c.kind = 'event' AND c.card_id = standing.card_id;
