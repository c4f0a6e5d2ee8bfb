-- name: concept_keys
-- The statements of each user, with their payloads.
SELECT e.partition, e.position, e.event_id, e.user_id, e.type, e.schema_version,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.type = 'StateAsserted' AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.user_id;
