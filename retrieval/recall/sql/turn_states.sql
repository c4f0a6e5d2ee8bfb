-- The states that were made of the same turn as each of these episodes. The cards of one extraction have one cause.
SELECT e.card_id, s.card_id
FROM cards.event_cards e
JOIN cards.state_cards s ON s.user_id = e.user_id AND s.caused_by = e.caused_by AND s.turn_ids && e.turn_ids
WHERE e.user_id = %(user_id)s AND e.card_id = ANY (%(cards)s::uuid[]) AND e.episode AND NOT s.contested;
