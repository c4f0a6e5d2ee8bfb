-- The lines beside some cards in their sessions, the nearest first, and the first line of the session.
SELECT own.card_id, own.content, near.above, near.line, near.words, (
    SELECT e.content FROM cards.event_cards e
    WHERE e.user_id = own.user_id AND e.project_id = own.project_id AND e.session_id = own.session_id AND e.episode
    ORDER BY e.position LIMIT 1
) AS opening
FROM cards.cards own
CROSS JOIN LATERAL (
    (SELECT true AS above, e.card_id AS line, e.content AS words, e.position
     FROM cards.event_cards e
     WHERE e.user_id = own.user_id AND e.project_id = own.project_id AND e.session_id = own.session_id AND e.episode
       AND e.position < own.position
     ORDER BY e.position DESC LIMIT %(near)s)
    UNION ALL
    (SELECT false, e.card_id, e.content, e.position
     FROM cards.event_cards e
     WHERE e.user_id = own.user_id AND e.project_id = own.project_id AND e.session_id = own.session_id AND e.episode
       AND e.position > own.position
     ORDER BY e.position LIMIT %(near)s)
) near
WHERE own.user_id = %(user_id)s AND own.kind = ANY (ARRAY['state', 'event', 'knowledge'])
  AND own.card_id = ANY (%(cards)s::uuid[])
ORDER BY own.card_id, abs(near.position - own.position);
