-- The next users whose documents changed since an instant.
SELECT d.user_id FROM core.documents d
WHERE d.updated_at >= %(since)s AND d.user_id > %(after)s
ORDER BY d.user_id
LIMIT 500;
