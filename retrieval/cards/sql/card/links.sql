-- The cards that belong to a card without an edge: concepts related to it in either direction, the episode of its turn,
-- and for an episode the other cards of its turn. `mark` says which.
WITH own AS (
    SELECT * FROM {cards} c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = %(card)s::uuid
)
SELECT 'related' AS mark, c.card_id
FROM own JOIN {cards} c ON c.user_id = own.user_id AND c.kind = 'knowledge' AND c.project_id = own.project_id
WHERE own.kind = 'knowledge' AND c.card_id <> own.card_id
  AND (c.name_keys && own.related_keys OR own.name_keys && c.related_keys)
UNION ALL
SELECT CASE WHEN own.episode THEN 'gave_rise_to' ELSE 'episode' END, c.card_id
FROM own JOIN {cards} c ON c.user_id = own.user_id AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id <> own.card_id
WHERE c.turn_ids && own.turn_ids AND c.project_id = own.project_id
  AND coalesce(c.episode, false) <> coalesce(own.episode, false)
ORDER BY 1, 2
LIMIT %(limit)s;
