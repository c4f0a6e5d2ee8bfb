-- The cards c that may answer: the filter of a recall, the same for every channel.
{owner_filter} AND NOT c.retracted AND NOT c.contested
AND (%(projects)s::text[] IS NULL OR c.project_id = ANY (%(projects)s::text[]))
AND (%(mode)s::text IS NULL OR coalesce(c.mode, 'general') = %(mode)s::text)
AND (%(layers)s::text[] IS NULL OR c.context_layer = ANY (%(layers)s::text[]))
AND (c.kind <> 'state'
     OR (c.effective_at <= coalesce(%(valid_until)s::timestamptz, 'infinity')
         AND coalesce(c.superseded_at, 'infinity') > coalesce(%(valid_from)s::timestamptz, '-infinity')))
AND (%(until)s::timestamptz IS NULL OR coalesce(c.occurred_at, c.effective_at) <= %(until)s::timestamptz)
AND (%(known_at)s::timestamptz IS NULL OR c.created_at <= %(known_at)s::timestamptz)
