-- The episode of the turn of each card that has one. The events of one extraction lie close together in the log, so the
-- look-up reads a bounded part of the session, by the index of episodes.
SELECT own.card_id, episode.card_id
FROM (
    -- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sums out of the comparison.
    SELECT c.*, c.position - %(near)s AS first, c.position + %(near)s AS last FROM cards.cards c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (ARRAY['state', 'event', 'knowledge'])
      AND c.card_id = ANY (%(cards)s::uuid[])
    OFFSET 0
) own
CROSS JOIN LATERAL (
    SELECT e.card_id FROM cards.event_cards e
    WHERE e.user_id = own.user_id AND e.session_id = own.session_id AND e.episode
      AND e.position BETWEEN own.first AND own.last
      AND e.project_id = own.project_id AND e.turn_ids && own.turn_ids
    ORDER BY e.position
    LIMIT 1
) episode;
