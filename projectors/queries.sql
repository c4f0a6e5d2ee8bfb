-- name: people_digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'entries' AS name, n::text AS content FROM entries n
    UNION ALL SELECT 'mentions', m::text FROM mentions m
    UNION ALL SELECT 'handles', h::text FROM handles h
    UNION ALL SELECT 'links', l::text FROM links l
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: people_held
-- The number of rows of a user, by table.
SELECT 'entries', count(*) FROM entries WHERE user_id = %(user_id)s
UNION ALL SELECT 'mentions', count(*) FROM mentions WHERE user_id = %(user_id)s
UNION ALL SELECT 'handles', count(*) FROM handles WHERE user_id = %(user_id)s
UNION ALL SELECT 'links', count(*) FROM links WHERE user_id = %(user_id)s;

-- name: people_add_entry
INSERT INTO entries (user_id, event_id, position) VALUES (%(user_id)s, %(event_id)s, %(position)s);

-- name: people_add_mentions
INSERT INTO mentions (user_id, event_id, handle, name, roles, certain, said_at, turn_id)
SELECT u, e, h, n, string_to_array(r, ' '), c, s, t
FROM unnest(%(user_id)s::text[], %(event_id)s::uuid[], %(handle)s::text[], %(name)s::text[], %(roles)s::text[],
            %(certain)s::boolean[], %(said_at)s::timestamptz[], %(turn_id)s::text[]) AS m (u, e, h, n, r, c, s, t);

-- name: people_add_links
INSERT INTO links (user_id, event_id, one, other, kind, quote)
SELECT * FROM unnest(%(user_id)s::text[], %(event_id)s::uuid[], %(one)s::text[], %(other)s::text[], %(kind)s::text[],
                     %(quote)s::text[])
ON CONFLICT DO NOTHING;

-- name: people_add_handles
-- The sum of new mentions, added to the sum that is there.
INSERT INTO handles AS h (user_id, handle, name, certain, since, until, mentions)
SELECT * FROM unnest(%(user_id)s::text[], %(handle)s::text[], %(name)s::text[], %(certain)s::boolean[],
                     %(since)s::timestamptz[], %(until)s::timestamptz[], %(mentions)s::integer[])
ON CONFLICT (user_id, handle) DO UPDATE SET
    name = CASE WHEN (excluded.since, excluded.name COLLATE "C") < (h.since, h.name COLLATE "C")
                THEN excluded.name ELSE h.name END,
    certain = h.certain OR excluded.certain,
    since = least(h.since, excluded.since),
    until = greatest(h.until, excluded.until),
    mentions = h.mentions + excluded.mentions;

-- name: people_remove_mentions
-- Deletes what withdrawn cards told, and sums up the handles that they named again.
WITH gone AS (
    DELETE FROM mentions WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]) RETURNING handle
), links AS (
    DELETE FROM links WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[])
), touched AS (
    SELECT DISTINCT handle FROM gone
), left_over AS (
    SELECT m.handle, (array_agg(m.name ORDER BY m.said_at, m.name COLLATE "C"))[1] AS name, bool_or(m.certain) AS certain,
           min(m.said_at) AS since, max(m.said_at) AS until, count(*)::integer AS mentions
    FROM mentions m JOIN touched t ON t.handle = m.handle
    WHERE m.user_id = %(user_id)s AND NOT (m.event_id = ANY (%(events)s::uuid[]))
    GROUP BY m.handle
), emptied AS (
    DELETE FROM handles h USING touched t
    WHERE h.user_id = %(user_id)s AND h.handle = t.handle
      AND NOT EXISTS (SELECT FROM left_over l WHERE l.handle = h.handle)
)
UPDATE handles h SET name = l.name, certain = l.certain, since = l.since, until = l.until, mentions = l.mentions
FROM left_over l WHERE h.user_id = %(user_id)s AND h.handle = l.handle;

-- name: people_remove_entries
DELETE FROM entries WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);

-- name: people_forget_user
WITH mentions AS (DELETE FROM mentions WHERE user_id = %(user_id)s),
     handles AS (DELETE FROM handles WHERE user_id = %(user_id)s),
     links AS (DELETE FROM links WHERE user_id = %(user_id)s)
DELETE FROM entries WHERE user_id = %(user_id)s;

-- name: problems_digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'entries' AS name, n::text AS content FROM entries n
    UNION ALL SELECT 'problems', p::text FROM problems p
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: problems_folded_events
-- The events that the tables hold of a user, in order.
SELECT {event e}
FROM entries n JOIN log.events e ON e.partition = %(partition)s AND e.position = n.position
WHERE n.user_id = %(user_id)s
ORDER BY e.position;

-- name: problems_held
-- The number of rows of a user, by table.
SELECT 'entries', count(*) FROM entries WHERE user_id = %(user_id)s
UNION ALL SELECT 'problems', count(*) FROM problems WHERE user_id = %(user_id)s;

-- name: problems_add_entry
INSERT INTO entries (user_id, event_id, position) VALUES (%(user_id)s, %(event_id)s, %(position)s);

-- name: problems_add_problem
INSERT INTO problems (user_id, problem_id, project_id, mode, description, status, priority, since, until, opened_at,
                      updated_at, closed_at, resolution, attempts, turn_ids, version, position)
VALUES (%(user_id)s, %(problem_id)s, %(project_id)s, %(mode)s, %(description)s, %(status)s, %(priority)s, %(since)s,
        %(until)s, %(opened_at)s, %(updated_at)s, %(closed_at)s, %(resolution)s, %(attempts)s, %(turn_ids)s, %(version)s,
        %(position)s);

-- name: problems_forget_user
WITH problems AS (DELETE FROM problems WHERE user_id = %(user_id)s)
DELETE FROM entries WHERE user_id = %(user_id)s;

-- name: problems_remove_entries
DELETE FROM entries WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);

-- name: problems_remove_problems
DELETE FROM problems WHERE user_id = %(user_id)s;

-- name: references_digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'objects' AS name, o::text AS content FROM objects o
    UNION ALL SELECT 'proposals', p::text FROM proposals p
    UNION ALL SELECT 'members', m::text FROM members m
    UNION ALL SELECT 'kinds', k::text FROM kinds k
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: references_held
-- The number of rows of a user, by table.
SELECT 'objects', count(*) FROM objects WHERE user_id = %(user_id)s
UNION ALL SELECT 'proposals', count(*) FROM proposals WHERE user_id = %(user_id)s
UNION ALL SELECT 'members', count(*) FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s
UNION ALL SELECT 'kinds', count(*) FROM kinds WHERE user_id = %(user_id)s;

-- name: references_present_objects
SELECT o.user_id, o.stream, o.reference_id, o.kind, o.key, o.project_id, o.team_id, o.version, o.data::text AS data,
       o.rendering, o.tier, o.tier_reason, o.archived, o.moved_to, o.created_at, o.updated_at, o.actor, o.partition,
       o.position
FROM objects o
JOIN unnest(%(users)s::text[], %(streams)s::text[]) AS asked(user_id, stream) USING (user_id, stream);

-- name: references_add_proposal
INSERT INTO proposals (user_id, proposal_id, kind, key, project_id, team_id, op, confidence, quote, turn_ids, status,
                       proposed_at, decided_at, decided_by, position)
VALUES (%(user_id)s, %(proposal_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(op)s, %(confidence)s, %(quote)s,
        %(turn_ids)s, %(status)s, %(proposed_at)s, NULL, NULL, %(position)s);

-- name: references_decide_proposal
UPDATE proposals SET status = %(status)s, decided_at = %(at)s, decided_by = %(by)s
WHERE user_id = %(user_id)s AND proposal_id = %(proposal_id)s AND status = 'waiting';

-- name: references_forget_user
-- The counts of reads are no part of the fold, and they go with their user.
WITH objects AS (DELETE FROM objects WHERE user_id = %(user_id)s),
     proposals AS (DELETE FROM proposals WHERE user_id = %(user_id)s),
     members AS (DELETE FROM members WHERE user_id = %(user_id)s OR member = %(user_id)s),
     kinds AS (DELETE FROM kinds WHERE user_id = %(user_id)s)
DELETE FROM log.reference_use WHERE user_id = %(user_id)s;

-- name: references_put_kind
INSERT INTO kinds (user_id, kind, description, schema, initial, declared_at)
VALUES (%(user_id)s, %(kind)s, %(description)s, %(schema)s, %(initial)s, %(at)s)
ON CONFLICT (user_id, kind) DO UPDATE SET description = excluded.description, schema = excluded.schema,
    initial = excluded.initial, declared_at = excluded.declared_at;

-- name: references_put_member
INSERT INTO members (user_id, member, team_id, since) VALUES (%(user_id)s, %(member)s, %(team_id)s, %(at)s)
ON CONFLICT (user_id, member) DO UPDATE SET since = excluded.since;

-- name: references_put_object
INSERT INTO objects (user_id, stream, reference_id, kind, key, project_id, team_id, version, data, rendering, tier,
                     tier_reason, archived, moved_to, created_at, updated_at, actor, partition, position)
VALUES (%(user_id)s, %(stream)s, %(reference_id)s, %(kind)s, %(key)s, %(project_id)s, %(team_id)s, %(version)s, %(data)s,
        %(rendering)s, %(tier)s, %(tier_reason)s, %(archived)s, %(moved_to)s, %(created_at)s, %(updated_at)s, %(actor)s,
        %(partition)s, %(position)s)
ON CONFLICT (user_id, stream) DO UPDATE SET
    reference_id = excluded.reference_id, version = excluded.version, data = excluded.data, rendering = excluded.rendering, tier = excluded.tier,
    tier_reason = excluded.tier_reason, archived = excluded.archived, moved_to = excluded.moved_to,
    updated_at = excluded.updated_at, actor = excluded.actor, position = excluded.position;

-- name: references_remove_member
DELETE FROM members WHERE user_id = %(user_id)s AND member = %(member)s;

-- name: parked_events
SELECT {event e}
FROM log.parked p JOIN log.events e USING (partition, position)
WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = %(user_id)s
  AND p.position > %(after)s
ORDER BY p.position
LIMIT %(limit)s;

-- name: parked_queues
-- One row a queue: the event that stands first, why, and how many wait behind it. Live generations only. NULL sets no
-- condition.
SELECT DISTINCT ON (p.processor, p.user_id)
       p.processor, p.generation, p.user_id, p.partition, p.position, p.event_id, e.type, p.reason, p.attempts,
       p.parked_at, count(*) OVER (PARTITION BY p.processor, p.user_id) - 1 AS behind
FROM log.parked p
JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'
LEFT JOIN log.events e ON e.partition = p.partition AND e.position = p.position
WHERE (%(processor)s::text IS NULL OR p.processor = %(processor)s::text)
  AND (%(users)s::text[] IS NULL OR p.user_id = ANY (%(users)s::text[]))
  AND (%(tenant)s::text IS NULL OR log.tenant_of(p.user_id) = %(tenant)s::text)
ORDER BY p.processor, p.user_id, p.position
LIMIT %(limit)s;

-- name: set_aside
-- Which of these users wait already, and which events of these partitions an operator decided to go without.
SELECT ARRAY(SELECT DISTINCT p.user_id FROM log.parked p
             WHERE p.processor = %(processor)s AND p.generation = %(generation)s
               AND p.user_id = ANY (%(users)s::text[])),
       ARRAY(SELECT d.event_id FROM log.dropped d
             WHERE d.processor = %(processor)s AND d.partition = ANY (%(partitions)s::smallint[]));

-- name: erased_events
-- The ids of the events of a user at these positions.
SELECT event_id FROM log.events
WHERE partition = %(partition)s AND position = ANY (%(positions)s::bigint[]) AND user_id = %(user_id)s;

-- name: unfolded_positions
-- The events of a user that a generation passed without folding them: they are parked, or were dropped.
SELECT p.position FROM log.parked p
WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = %(user_id)s AND p.partition = %(partition)s
UNION ALL
SELECT d.position FROM log.dropped d
WHERE d.processor = %(processor)s AND d.user_id = %(user_id)s AND d.partition = %(partition)s;

-- name: drop_parked
-- The first of a queue, or all of it, from waiting to decided against, in every generation; returns what went.
WITH chosen AS (
    SELECT p.position, p.event_id, p.reason, p.attempts, p.parked_at FROM log.parked p
    WHERE p.processor = %(processor)s AND p.generation = %(generation)s AND p.user_id = %(user_id)s
      AND p.partition = %(partition)s
    ORDER BY p.position
    LIMIT CASE WHEN %(whole)s::boolean THEN NULL ELSE 1 END
), gone AS (
    DELETE FROM log.parked p USING chosen
    WHERE p.processor = %(processor)s AND p.user_id = %(user_id)s AND p.partition = %(partition)s
      AND p.position = chosen.position
)
INSERT INTO log.dropped (processor, partition, user_id, position, event_id, reason, because, attempts, parked_at)
SELECT %(processor)s, %(partition)s, %(user_id)s, position, event_id, reason, %(because)s, attempts, parked_at
FROM chosen
RETURNING partition, position, event_id, reason;

-- name: failed_again
UPDATE log.parked SET reason = %(reason)s, attempts = attempts + 1
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position = %(position)s;

-- name: park
-- Only an event with a reason was tried; the others wait behind it.
INSERT INTO log.parked (processor, generation, partition, user_id, position, event_id, reason, attempts)
SELECT %(processor)s, %(generation)s, e.partition, e.user_id, e.position, e.event_id, e.reason,
       (e.reason IS NOT NULL)::integer
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(positions)s::bigint[], %(events)s::uuid[],
            %(reasons)s::text[]) AS e(partition, user_id, position, event_id, reason);

-- name: unpark
DELETE FROM log.parked
WHERE processor = %(processor)s AND generation = %(generation)s AND user_id = %(user_id)s
  AND partition = %(partition)s AND position <= %(position)s;

-- name: forget_parked
-- Deletes the parked and the dropped events of a user, what operators asked about them, and the counts of their cards: of
-- some events, or all for NULL. A card has the id of its event.
-- A later event that waits behind an erased one then needs `cardlog parked retry` no more than before.
WITH parked AS (
    DELETE FROM log.parked p WHERE p.user_id = %(user_id)s AND p.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR p.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
), dropped AS (
    DELETE FROM log.dropped d WHERE d.user_id = %(user_id)s AND d.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR d.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
), asked AS (
    DELETE FROM log.operations o WHERE o.user_id = %(user_id)s
        AND (%(events)s::uuid[] IS NULL OR o.event_id = ANY (%(events)s::uuid[]))
), used AS (
    DELETE FROM log.card_use u WHERE u.user_id = %(user_id)s
        AND (%(events)s::uuid[] IS NULL OR u.card_id = ANY (%(events)s::uuid[]))
), days AS (
    DELETE FROM log.answer_use a WHERE a.user_id = %(user_id)s AND %(events)s::uuid[] IS NULL
)
SELECT (SELECT count(*) FROM parked), (SELECT count(*) FROM dropped);

-- name: lock_checkpoint
-- The row a runner holds while it folds this partition: whoever has it is alone with the partition's users.
SELECT position FROM log.checkpoints
WHERE processor = %(processor)s AND generation = %(generation)s AND partition = %(partition)s
FOR NO KEY UPDATE;

-- name: scrub_began
SELECT clock_timestamp();

-- name: old_segments
-- Segments that were last written before: of before, or kept under a later name to be overwritten.
SELECT count(*)::integer FROM pg_ls_waldir() WHERE modification < %(since)s AND name ~ '^[0-9A-F]{24}$';

-- name: small_tables
-- Tables outside the projections whose rows may hold words, keys or vectors of users. `pg_statistic` holds samples of the
-- columns. Tables that do not exist are left out.
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND (
    (n.nspname = 'log' AND c.relname IN ('parked', 'dropped', 'heartbeats'))
    OR n.nspname IN ('sealing', 'vector_cache')
    OR (n.nspname = 'pg_catalog' AND c.relname = 'pg_statistic'))
ORDER BY n.nspname = 'pg_catalog', n.nspname, c.relname;

-- name: tables_of
SELECT n.nspname, c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE c.relkind = 'r' AND n.nspname = %(schema)s ORDER BY c.relname;

-- name: scrub_done
UPDATE erasure.tombstones SET scrubbed_at = clock_timestamp() WHERE scrubbed_at IS NULL AND erased_at < %(began)s;

-- name: checkpoint
CHECKPOINT;

-- name: lock_timeout
SELECT set_config('lock_timeout', %(timeout)s, false);

-- name: next_second
-- The server tells the time of a file in whole seconds, so the next second must begin first.
WITH next AS MATERIALIZED (SELECT date_trunc('second', clock_timestamp()) + interval '1 second' AS at)
SELECT next.at FROM next, pg_sleep(extract(epoch FROM next.at - clock_timestamp()) + 0.05);

-- name: switch_segment
-- A segment without a record is not switched.
SELECT pg_switch_wal() FROM (SELECT pg_logical_emit_message(true, 'cardlog', 'scrub')) message;
