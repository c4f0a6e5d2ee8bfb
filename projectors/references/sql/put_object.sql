INSERT INTO objects (user_id, stream, reference_id, kind, key, project_id, team_id, version, data, rendering, tier,
                     tier_reason, archived, moved_to, created_at, updated_at, actor, partition, position)
VALUES (%(user_id)s, %(stream)s, %(reference_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(version)s, %(data)s,
        %(rendering)s, %(tier)s, %(tier_reason)s, %(archived)s, %(moved_to)s, %(created_at)s, %(updated_at)s, %(actor)s,
        %(partition)s, %(position)s)
ON CONFLICT (user_id, stream) DO UPDATE SET
    version = excluded.version, data = excluded.data, rendering = excluded.rendering, tier = excluded.tier,
    tier_reason = excluded.tier_reason, archived = excluded.archived, moved_to = excluded.moved_to,
    updated_at = excluded.updated_at, actor = excluded.actor, position = excluded.position;
