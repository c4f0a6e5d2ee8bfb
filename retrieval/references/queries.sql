-- name: declared_kinds
SELECT kind, description, schema, initial, declared_at FROM "references".kinds WHERE user_id = %(owner)s ORDER BY kind;

-- name: present_objects
-- The references of some owners as the tables have them, and then the events above the checkpoint of the tables
-- (`unfolded`), in order. One statement, so both are of one moment: between two statements a fold could move events from the
-- one to the other. OFFSET 0 makes the range of positions the first condition: another index would read the whole history
-- of the owner.
(SELECT false AS unfolded, o.user_id, o.stream, o.version, o.actor, o.partition, o.position, o.data::text AS data, o.reference_id, o.kind,
        o.key, o.project_id, o.team_id, o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at,
        o.updated_at, NULL AS type, NULL::uuid AS event_id, NULL::smallint AS schema_version, NULL AS dedupe_key,
        NULL::timestamptz AS occurred_at, NULL::timestamptz AS recorded_at, NULL::uuid AS causation_id,
        NULL::uuid AS correlation_id
 FROM "references".objects o
 WHERE o.user_id = ANY (%(owners)s::text[])
 ORDER BY o.user_id, o.stream
 LIMIT %(limit)s)
UNION ALL
(SELECT true, e.user_id, e.stream, e.version, e.actor, e.partition, e.position,
        sealing.readable(e.user_id, e.partition, e.position, e.data), NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
        NULL, NULL, NULL, NULL, e.type, e.event_id, e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at,
        e.causation_id, e.correlation_id
 FROM unnest(%(owners)s::text[], %(partitions)s::smallint[]) AS asked(user_id, partition)
 CROSS JOIN LATERAL (
     SELECT coalesce((SELECT c.position FROM log.checkpoints c
                      JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                            AND g.status = 'live'
                      WHERE c.processor = 'references' AND c.partition = asked.partition), 0) AS position
 ) folded
 CROSS JOIN LATERAL (
     SELECT * FROM log.events WHERE partition = asked.partition AND position > folded.position ORDER BY position OFFSET 0
 ) e
 WHERE e.user_id = asked.user_id AND e.type = ANY (%(types)s::text[])
 LIMIT 10000)
ORDER BY unfolded, partition, position;

-- name: proposals
SELECT proposal_id, kind, key, project_id, team_id, op, confidence, quote, turn_ids, status, proposed_at, decided_at,
       decided_by
FROM "references".proposals
WHERE user_id = %(user_id)s AND (%(status)s::text IS NULL OR status = %(status)s)
  AND (%(projects)s::text[] IS NULL OR coalesce(project_id, 'default') = ANY (%(projects)s::text[]))
  AND (%(before)s::uuid IS NULL OR proposal_id < %(before)s)
ORDER BY proposal_id DESC
LIMIT %(limit)s;

-- name: references_then
-- The last event of each type in each reference of some owners, by an instant, in order. They tell the references of then.
WITH then_last AS MATERIALIZED (
    SELECT DISTINCT ON (e.user_id, e.stream, e.type) e.*
    FROM unnest(%(owners)s::text[], %(partitions)s::smallint[]) AS asked(user_id, partition)
    JOIN log.events e ON e.partition = asked.partition AND e.user_id = asked.user_id
    WHERE e.type = ANY (%(types)s::text[])
      AND (%(as_of)s::timestamptz IS NULL OR e.occurred_at <= %(as_of)s::timestamptz)
      AND (%(known_at)s::timestamptz IS NULL OR e.recorded_at <= %(known_at)s::timestamptz)
    ORDER BY e.user_id, e.stream, e.type, e.version DESC
)
SELECT {event e}
FROM then_last e
ORDER BY e.partition, e.user_id, e.stream, e.version;

-- name: teams_of
SELECT user_id AS owner, team_id FROM "references".members WHERE member = %(member)s ORDER BY user_id;

-- name: unfolded_events
-- The events of some owners above the checkpoint of the tables, in order. See present_objects.
SELECT {event e}
FROM unnest(%(owners)s::text[], %(partitions)s::smallint[]) AS asked(user_id, partition)
CROSS JOIN LATERAL (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'references' AND c.partition = asked.partition), 0) AS position
) folded
CROSS JOIN LATERAL (
    SELECT * FROM log.events WHERE partition = asked.partition AND position > folded.position ORDER BY position OFFSET 0
) e
WHERE e.user_id = asked.user_id AND e.type = ANY (%(types)s::text[])
LIMIT 10000;

-- name: add_use
INSERT INTO log.reference_use (user_id, stream, day, uses)
SELECT * FROM unnest(%(users)s::text[], %(names)s::text[], %(days)s::date[], %(uses)s::integer[])
ON CONFLICT (user_id, stream, day) DO UPDATE SET uses = log.reference_use.uses + excluded.uses;
