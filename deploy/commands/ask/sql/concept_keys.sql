-- The number of statements of each user under each concept key.
SELECT e.user_id, e.data->>'concept_key', count(*)::bigint
FROM log.events e
WHERE e.type = 'StateAsserted' AND strpos(e.data::text, '\u0000') = 0
  AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
GROUP BY 1, 2
ORDER BY 1, 2;
