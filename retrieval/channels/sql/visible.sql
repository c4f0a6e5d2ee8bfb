-- The cards c that may answer: the filter of a recall, the same for every channel. A card that is retracted now may not
-- have been at `known_at`; the fold of the past decides. A plan may answer from when it was said, whatever its time. An
-- event that a later event replaced is found, so that the later event can take its place. `modes` are
-- the names that cards of these modes may have: a name, or a project, U+001F and a name. `named` are the declared names,
-- given when cards with any other name belong to these modes, too. `has` is the metadata asked for.
{owner_filter} AND NOT c.contested
AND coalesce(c.project_id=ANY(%(projects)s),true)
AND (coalesce(ARRAY[coalesce(c.mode,'general'),c.project_id||E'\x1f'||c.mode]&&%(modes)s,true)
     OR c.mode<>ALL(%(named)s))
AND coalesce(c.metadata::jsonb@>%(has)s,%(has)s IS NULL)
AND (%(layers)s::text[] IS NULL OR c.context_layer =ANY(%(layers)s))
AND (c.kind <> 'state'
     OR coalesce(c.effective_at<=%(valid_until)s,true)
        AND coalesce(c.superseded_at>%(valid_from)s,true))
AND (%(until)s::timestamptz IS NULL OR coalesce(c.occurred_at, c.effective_at) <= %(until)s
     OR c.stated_status <> 'happened' AND c.said_at <= %(until)s)
AND (%(known_at)s::timestamptz IS NULL AND NOT c.retracted OR c.created_at <= %(known_at)s)
