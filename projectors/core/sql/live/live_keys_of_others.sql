-- The keys that other users of a tenant made, of the documents that changed last. A user of the default tenant has a
-- plain id.
SELECT ARRAY(SELECT json_object_keys(d.document -> 'uncategorized'))
       || ARRAY(SELECT json_object_keys(d.document -> 'dynamicCategories')) AS keys
FROM core.documents d
WHERE d.user_id <> %(user_id)s
  AND CASE WHEN %(prefix)s::text = '' THEN strpos(d.user_id, E'\x1f') = 0
           ELSE starts_with(d.user_id, %(prefix)s::text) END
ORDER BY d.updated_at DESC NULLS LAST, d.user_id
LIMIT 500;
