-- The cards and arbitrations among `ids` in these projects and modes. NULL means all of them. A target without a mode
-- belongs to the general mode. An arbitration is in reach when its project and the modes of both its cards are.
SELECT id
FROM cards.command_targets
WHERE user_id = %(user_id)s AND id = ANY (%(ids)s::uuid[])
  AND (target = 'card' AND detail IN ('state', 'event', 'knowledge') OR target = 'arbitration')
  AND (%(projects)s::text[] IS NULL OR project_id = ANY (%(projects)s::text[]))
  AND (%(modes)s::text[] IS NULL OR array_replace(modes, NULL, 'general') <@ %(modes)s::text[]);
