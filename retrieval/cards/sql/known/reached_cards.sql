-- The cards within the reach of a key. A card without a mode belongs to the general mode.
(SELECT reached.* FROM {cards} reached
 WHERE reached.user_id = %(user_id)s AND reached.kind IN ('state', 'event', 'knowledge')
   AND (%(reached_projects)s::text[] IS NULL OR reached.project_id = ANY (%(reached_projects)s::text[]))
   AND (%(reached_modes)s::text[] IS NULL OR coalesce(reached.mode, 'general') = ANY (%(reached_modes)s::text[])))
