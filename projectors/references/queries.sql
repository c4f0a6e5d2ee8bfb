-- name: digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'objects' AS name, o::text AS content FROM objects o
    UNION ALL SELECT 'proposals', p::text FROM proposals p
    UNION ALL SELECT 'members', m::text FROM members m
    UNION ALL SELECT 'kinds', k::text FROM kinds k
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: held
-- The number of rows of a user, by table.
SELECT 'objects', count(*) FROM objects WHERE user_id = %(user_id)s
UNION ALL SELECT 'proposals', count(*) FROM proposals WHERE user_id = %(user_id)s
UNION ALL SELECT 'members', count(*) FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s
UNION ALL SELECT 'kinds', count(*) FROM kinds WHERE user_id = %(user_id)s;

-- name: present_objects
SELECT o.user_id, o.stream, o.reference_id, o.kind, o.key, o.project_id, o.team_id, o.version, o.data::text AS data,
       o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at, o.updated_at, o.actor, o.partition,
       o.position
FROM objects o
JOIN unnest(%(users)s::text[], %(streams)s::text[]) AS asked(user_id, stream) USING (user_id, stream);

-- name: add_proposal
INSERT INTO proposals (user_id, proposal_id, kind, key, project_id, team_id, op, confidence, quote, turn_ids, status,
                       proposed_at, decided_at, decided_by, position)
VALUES (%(user_id)s, %(proposal_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(op)s, %(confidence)s, %(quote)s,
        %(turn_ids)s, %(status)s, %(proposed_at)s, NULL, NULL, %(position)s);

-- name: decide_proposal
UPDATE proposals SET status = %(status)s, decided_at = %(at)s, decided_by = %(by)s
WHERE user_id = %(user_id)s AND proposal_id = %(proposal_id)s AND status = 'waiting';

-- name: forget_user
-- The counts of reads are no part of the fold, and they go with their user.
WITH objects AS (DELETE FROM objects WHERE user_id = %(user_id)s),
     proposals AS (DELETE FROM proposals WHERE user_id = %(user_id)s),
     members AS (DELETE FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s),
     kinds AS (DELETE FROM kinds WHERE user_id = %(user_id)s)
DELETE FROM log.reference_use WHERE user_id = %(user_id)s;

-- name: put_kind
INSERT INTO kinds (user_id, kind, description, schema, initial, declared_at)
VALUES (%(user_id)s, %(kind)s, %(description)s, %(schema)s, %(initial)s, %(at)s)
ON CONFLICT (user_id, kind) DO UPDATE SET description = excluded.description, schema = excluded.schema,
    initial = excluded.initial, declared_at = excluded.declared_at;

-- name: put_member
INSERT INTO members (user_id, member, team_id, since) VALUES (%(user_id)s, %(member)s, %(team_id)s, %(at)s)
ON CONFLICT (user_id, member) DO UPDATE SET since = excluded.since;

-- name: put_object
INSERT INTO objects (user_id, stream, reference_id, kind, key, project_id, team_id, version, data, rendering, tier,
                     tier_reason, archived, moved_to, created_at, updated_at, actor, partition, position)
VALUES (%(user_id)s, %(stream)s, %(reference_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(version)s, %(data)s,
        %(rendering)s, %(tier)s, %(tier_reason)s, %(archived)s, %(moved_to)s, %(created_at)s, %(updated_at)s, %(actor)s,
        %(partition)s, %(position)s)
ON CONFLICT (user_id, stream) DO UPDATE SET
    reference_id = excluded.reference_id, version = excluded.version, data = excluded.data, rendering = excluded.rendering, tier = excluded.tier,
    tier_reason = excluded.tier_reason, archived = excluded.archived, moved_to = excluded.moved_to,
    updated_at = excluded.updated_at, actor = excluded.actor, position = excluded.position;

-- name: remove_member
DELETE FROM members WHERE user_id = %(user_id)s AND member = %(member)s;
