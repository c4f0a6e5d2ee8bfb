-- The id of an earlier statement names the card that the statement is part of now.
SELECT detail FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'statement' AND id = %(card)s::uuid
LIMIT 1;
