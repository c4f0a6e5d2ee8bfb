-- The episode of the turn of each card that has one. The events of one extraction lie close together in the log, so the
-- look-up reads a bounded part of the session, by the index of episodes.
SELECT own.card_id, episode.card_id
FROM cards.cards own
CROSS JOIN LATERAL (
    SELECT e.card_id FROM cards.event_cards e
    WHERE e.user_id = own.user_id AND e.session_id = own.session_id AND e.episode
      AND e.position BETWEEN own.position - %(near)s AND own.position + %(near)s
      AND e.project_id = own.project_id AND e.turn_ids && own.turn_ids
    ORDER BY e.position
    LIMIT 1
) episode
WHERE own.user_id = %(user_id)s AND own.kind = ANY (ARRAY['state', 'event', 'knowledge'])
  AND own.card_id = ANY (%(cards)s::uuid[]);
