-- The changes that made these versions.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, actor, trust, source, confidence, rationale,
       turn_ids, others
FROM core.changes
WHERE user_id = %(user_id)s AND version = ANY (%(versions)s::bigint[]);
