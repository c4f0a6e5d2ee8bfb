SELECT version, position, document::text AS document, marks::text AS marks, updated_at FROM core.snapshots
WHERE user_id = %(user_id)s AND version <= %(version)s
ORDER BY version DESC LIMIT 1;
