SELECT o.user_id, o.stream, o.reference_id, o.kind, o.key, o.project_id, o.team_id, o.version, o.data::text AS data,
       o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at, o.updated_at, o.actor, o.partition,
       o.position
FROM objects o
JOIN unnest(%(users)s::text[], %(streams)s::text[]) AS asked(user_id, stream) USING (user_id, stream);
