-- A user's own references of a kind. The caller reads each one's present value from the log.
SELECT o.user_id, o.stream, o.reference_id, o.kind, o.key, o.project_id, o.team_id, o.version, o.data::text AS data,
       o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at, o.updated_at, o.actor, o.partition,
       o.position
FROM "references".objects o
WHERE o.user_id = %(user_id)s AND o.kind = %(kind)s
ORDER BY o.stream
LIMIT 200;
