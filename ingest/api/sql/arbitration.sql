SELECT detail AS status FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'arbitration' AND id = %(arbitration)s::uuid;
