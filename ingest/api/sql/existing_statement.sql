-- A statement that made a card once stands for the card it is part of by now.
SELECT detail FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'statement' AND id = %(card)s::uuid
LIMIT 1;
