SELECT log.line(e) || E'\n', encode(s.salt, 'hex'), encode(k.wrapped, 'hex')
FROM log.events e
LEFT JOIN sealing.salts s ON s.partition = e.partition AND s.position = e.position
LEFT JOIN sealing.subject_keys k ON k.user_id = e.user_id
WHERE e.partition = %(partition)s AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;
