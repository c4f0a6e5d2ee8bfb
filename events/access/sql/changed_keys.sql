-- The number of changes, and the keys that changed after the change `seen`.
SELECT r.number, ARRAY(SELECT k.key_id FROM access.api_keys k WHERE k.revision > %(seen)s::bigint)
FROM access.revision r;
