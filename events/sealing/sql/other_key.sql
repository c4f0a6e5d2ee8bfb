-- A subject that has another key here than the given one. Nobody could open its imported events.
SELECT g.user_id
FROM unnest(%(users)s::text[], %(wrapped)s::text[]) AS g(user_id, wrapped)
JOIN sealing.subject_keys k ON k.user_id = g.user_id
WHERE k.wrapped <> decode(g.wrapped, 'hex')
LIMIT 1;
