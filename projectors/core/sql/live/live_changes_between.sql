-- The changes of a user after one version and up to another, in order.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, actor, trust, source, confidence, rationale,
       turn_ids, others
FROM core.changes
WHERE user_id = %(user_id)s AND version > %(after)s AND version <= %(upto)s
ORDER BY version;
