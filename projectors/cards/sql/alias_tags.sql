-- The latest alias of a tag counts, in whatever order aliases are folded.
INSERT INTO tag_aliases AS t (user_id, alias, tag, changed_at, event_id)
SELECT * FROM unnest(%(users)s::text[], %(aliases)s::text[], %(tags)s::text[], %(instants)s::timestamptz[],
                     %(events)s::uuid[])
ON CONFLICT (user_id, alias) DO UPDATE SET tag = EXCLUDED.tag, changed_at = EXCLUDED.changed_at,
                                           event_id = EXCLUDED.event_id
WHERE (EXCLUDED.changed_at, EXCLUDED.event_id) > (t.changed_at, t.event_id);
