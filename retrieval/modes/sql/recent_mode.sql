-- The project and the mode of the latest card of a session. A card without a mode is of the general mode.
SELECT c.project_id, coalesce(c.mode, 'general') FROM cards.event_cards c
WHERE c.user_id = %(user_id)s AND c.session_id = %(session_id)s AND NOT c.retracted
ORDER BY c.position DESC
LIMIT 1;
