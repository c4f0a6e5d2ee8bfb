-- The position of the event of a card, or of a statement that a card rests on.
SELECT position FROM cards.command_targets
WHERE user_id = %(user_id)s AND target IN ('card', 'statement') AND id = %(card)s::uuid AND detail = %(kind)s
LIMIT 1;
