-- True when a policy applies to this role, and the columns that a row brings.
SELECT row_security_active(t.oid), array_agg(a.attname::text ORDER BY a.attnum)
FROM pg_class t JOIN pg_attribute a ON a.attrelid = t.oid AND a.attnum > 0 AND NOT a.attisdropped AND a.attgenerated = ''
WHERE t.oid = %(table)s::text::regclass
GROUP BY t.oid;
