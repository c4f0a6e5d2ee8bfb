SELECT id, detail AS kind FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'card' AND id = ANY (%(cards)s::uuid[])
  AND detail IN ('state', 'event', 'knowledge');
