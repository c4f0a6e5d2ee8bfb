DELETE FROM statements s
USING unnest(%(users)s::text[], %(identities)s::text[], %(events)s::uuid[]) AS gone(user_id, identity, event_id)
WHERE s.user_id = gone.user_id AND s.identity = gone.identity AND s.event_id = gone.event_id;
