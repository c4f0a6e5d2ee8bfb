-- The changes of a user below a version, the latest first.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, actor, trust, source, confidence, rationale,
       turn_ids, others
FROM core.changes
WHERE user_id = %(user_id)s AND version < %(below)s
ORDER BY version DESC
LIMIT %(limit)s;
