SELECT log.line(e) || E'\n'
FROM log.events e
WHERE e.partition = %(partition)s AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;
