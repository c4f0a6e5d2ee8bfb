-- name: episode_candidates
-- The episodes that may have the best scores: those with a term of a topic, those whose turns tell a concept of a path,
-- and the most important ones.
WITH touched AS (
    SELECT DISTINCT told.turn_id
    FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
    WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event') AND c.episode IS NOT TRUE AND NOT c.retracted
      AND (c.concept_key = ANY (%(keys)s::text[])
           OR %(other_keys)s::boolean AND c.concept_key <> ALL (%(registered)s::text[]))
), own AS (
    SELECT e.card_id, e.content, e.occurred_at, e.said_at, e.speaker, e.topics, e.sentiment, e.importance, e.turn_ids,
           e.session_id, e.project_id, e.mode, e.term_keys
    FROM cards.cards e
    WHERE e.user_id = %(user_id)s AND e.kind = 'event' AND e.episode AND NOT e.retracted
      AND (%(project_id)s::text IS NULL OR e.project_id = %(project_id)s)
      AND (%(reached_projects)s::text[] IS NULL OR e.project_id = ANY (%(reached_projects)s::text[]))
      AND (%(reached_modes)s::text[] IS NULL OR coalesce(e.mode, 'general') = ANY (%(reached_modes)s::text[]))
), chosen AS (
    (SELECT card_id FROM own WHERE term_keys && %(terms)s::integer[] OR turn_ids && ARRAY(SELECT turn_id FROM touched)
     ORDER BY said_at DESC LIMIT 2000)
    UNION
    (SELECT card_id FROM own ORDER BY importance DESC, said_at DESC LIMIT 200)
)
SELECT o.card_id, o.content, o.occurred_at, o.said_at, o.speaker, o.topics, o.sentiment, o.importance, o.turn_ids,
       o.session_id, o.project_id, o.mode
FROM own o JOIN chosen USING (card_id);

-- name: concepts_of_turns
-- The concepts that the cards of some turns tell.
SELECT DISTINCT told.turn_id, c.concept_key
FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event') AND c.concept_key IS NOT NULL AND NOT c.retracted
  AND c.turn_ids && %(turn_ids)s::text[];

-- name: reached_turns
-- The turns (or one of them) all of whose cards are in some modes. A turn without a card is in none: its mode is not
-- known yet.
SELECT told.turn_id
FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event', 'knowledge')
  AND (%(turn_id)s::text IS NULL OR %(turn_id)s::text = ANY (c.turn_ids))
GROUP BY told.turn_id
HAVING bool_and(coalesce(c.mode, 'general') = ANY (%(modes)s::text[]));

-- name: sessions
-- The sessions of a user, the latest spoken in first, each with its last turn. The index gives one stream after the
-- other. A turn whose salt or key was destroyed is erased. `turns` are the turns in reach; NULL means all of them.
-- OFFSET 0 looks up the salt of each turn. Otherwise the salts of all users are read.
WITH RECURSIVE streams AS (
    (SELECT stream FROM log.events
     WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream > 'session/' AND stream < 'session0'
     ORDER BY stream LIMIT 1)
    UNION ALL
    SELECT following.stream FROM streams s
    CROSS JOIN LATERAL (SELECT e.stream FROM log.events e
                        WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s
                          AND e.stream > s.stream AND e.stream < 'session0'
                        ORDER BY e.stream LIMIT 1) following
), spoken AS (
    SELECT last.position, s.stream FROM streams s
    CROSS JOIN LATERAL (
        SELECT e.position FROM log.events e
        WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = s.stream
          AND e.type = 'TurnRecorded'
          AND (%(turns)s::text[] IS NULL OR substr(e.dedupe_key, 6) = ANY (%(turns)s::text[]))
          AND (e.data::text NOT LIKE '{"sealed":"%%'
               OR EXISTS (SELECT FROM sealing.salts t WHERE t.partition = e.partition AND t.position = e.position OFFSET 0)
                  AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = %(user_id)s))
        ORDER BY e.version DESC LIMIT 1
    ) last
    WHERE (%(projects)s::text[] IS NULL OR split_part(s.stream, '/', 2) = ANY (%(projects)s::text[]))
      AND last.position < coalesce(%(below)s::bigint, 9223372036854775807)
    ORDER BY last.position DESC
    LIMIT %(limit)s
)
SELECT {event l},
       said.first_said_at, said.last_said_at, said.turns
FROM spoken
JOIN log.events l ON l.partition = %(partition)s AND l.position = spoken.position
CROSS JOIN LATERAL (
    SELECT min(e.occurred_at) AS first_said_at, max(e.occurred_at) AS last_said_at, count(*) AS turns
    FROM log.events e
    WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = spoken.stream
      AND e.type = 'TurnRecorded'
      AND (%(turns)s::text[] IS NULL OR substr(e.dedupe_key, 6) = ANY (%(turns)s::text[]))
      AND (e.data::text NOT LIKE '{"sealed":"%%'
           OR EXISTS (SELECT FROM sealing.salts t WHERE t.partition = e.partition AND t.position = e.position OFFSET 0)
              AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = %(user_id)s))
) said
ORDER BY spoken.position DESC;

-- name: turn
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND dedupe_key = %(key)s;

-- name: turns
-- The latest turns of a session below a version, also those that were erased. `turns` is as for sessions.
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s AND type = 'TurnRecorded'
  AND version < coalesce(%(below)s::bigint, 9223372036854775807)
  AND (%(turns)s::text[] IS NULL OR substr(dedupe_key, 6) = ANY (%(turns)s::text[]))
ORDER BY version DESC
LIMIT %(limit)s;

-- name: turn_progress
-- The position of a turn, and how far the stages behind it are in its partition. Only live generations count.
SELECT e.position AS turn,
       (SELECT c.position FROM log.checkpoints c
        WHERE c.processor = 'extractor' AND c.generation = 0 AND c.partition = e.partition) AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = e.partition) AS cards,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'vectors' AND c.partition = e.partition) AS vectors
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.dedupe_key = %(key)s;

-- name: extractions
-- The extractions of a session behind a turn, also those that failed, in order.
SELECT {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s AND position > %(turn)s
  AND type IN ('TurnsExtracted', 'ExtractionFailed')
ORDER BY version
LIMIT 100;

-- name: parked_reason
-- Why the cards of a user wait, if one of these events is parked. The first parked event has the reason.
SELECT (SELECT first.reason FROM log.parked first
        WHERE first.processor = p.processor AND first.generation = p.generation AND first.user_id = p.user_id
        ORDER BY first.position LIMIT 1) AS reason
FROM log.parked p
JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'
WHERE p.processor = 'cards' AND p.user_id = %(user_id)s AND p.partition = %(partition)s
  AND p.position BETWEEN %(turn)s AND %(target)s
LIMIT 1;

-- name: cards_of_turn
SELECT card_id FROM cards.cards
WHERE user_id = %(user_id)s AND kind IN ('state', 'event', 'knowledge') AND turn_ids @> ARRAY[%(turn_id)s::text]
ORDER BY card_id
LIMIT 500;

-- name: without_vectors
-- The cards of some events that wait for their vector, and why others will have none.
SELECT count(*) FILTER (WHERE failure IS NULL) AS waiting, max(failure) AS failure FROM vectors.pending_vectors
WHERE user_id = %(user_id)s AND position BETWEEN %(turn)s AND %(target)s;

-- name: recent_mode
-- The project and the mode of the latest card of a session. A card without a mode is of the general mode.
SELECT c.project_id, coalesce(c.mode, 'general') FROM cards.cards c
WHERE c.user_id = %(user_id)s AND c.kind = 'event' AND c.session_id = %(session_id)s AND NOT c.retracted
ORDER BY c.position DESC
LIMIT 1;

-- name: reembedding
SELECT cards, least(1, reached::float8 / greatest(position, 1)) AS share, done_at FROM vectors.reembeddings
WHERE user_id = %(user_id)s AND event_id = %(event_id)s;

-- name: reembedding_requests
-- The last re-embeddings that a user asked for, the newest first.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s AND e.type = 'ModeReembedded'
ORDER BY e.version DESC
LIMIT 200;

-- name: reembeddings_there
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'vectors' AND c.relname = 'reembeddings');

-- name: named_in
-- The cards that name a person, the last said first. A name that several people share counts where its turn also names
-- the person by a tie. No handle has more rows read than are wanted. Cards whose names no table has yet are given.
SELECT named.event_id, max(named.said_at) AS said_at
FROM (
    SELECT m.event_id, m.said_at
    FROM unnest(%(handles)s::text[]) AS own(handle)
    CROSS JOIN LATERAL (SELECT last.event_id, last.said_at FROM people.mentions last
                        WHERE last.user_id = %(user_id)s AND last.handle = own.handle
                        ORDER BY last.said_at DESC, last.event_id DESC LIMIT %(limit)s) m
    UNION ALL
    SELECT m.event_id, m.said_at FROM people.mentions m
    WHERE m.user_id = %(user_id)s AND m.handle = ANY (%(shared)s::text[])
      AND m.turn_id IN (SELECT t.turn_id FROM people.mentions t
                        WHERE t.user_id = %(user_id)s AND t.handle = ANY (%(tied)s::text[]))
    UNION ALL
    SELECT u.event_id, u.said_at
    FROM unnest(%(unfolded)s::uuid[], %(unfolded_at)s::timestamptz[]) AS u(event_id, said_at)
) named
GROUP BY named.event_id
ORDER BY max(named.said_at) DESC, named.event_id DESC
LIMIT %(limit)s

-- name: mentions_of
-- The handles that some cards name, each with the turn of its card.
SELECT m.event_id, m.handle, m.name, m.roles, m.certain, m.said_at, m.turn_id FROM people.mentions m
WHERE m.user_id = %(user_id)s AND m.event_id = ANY (%(cards)s::uuid[])
ORDER BY m.event_id, m.handle;

-- name: place_of_people
-- Where the log and the tables of people stand for one user, in one snapshot. A stretch of the partition with more than
-- `depth` events counts as told. An erasure that keeps the log leaves no event, and the sums of the tables show it.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the choice of a position out of it.
-- The concatenation keeps a generic plan on the positions.
SELECT place.head,
       concat_ws(' ', place.generation, handles.number, handles.mentions,
                 (SELECT count(*) FROM people.entries n WHERE n.user_id = %(user_id)s)) AS tables,
       CASE WHEN place.head - place.since > %(depth)s THEN true
            ELSE EXISTS (SELECT FROM log.events e
                         WHERE e.partition = %(partition)s AND e.position > place.since
                           AND e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])) END AS changed,
       CASE WHEN place.head - place.folded > %(depth)s THEN true
            ELSE EXISTS (SELECT FROM log.events e
                         WHERE e.partition = %(partition)s AND e.position > place.folded
                           AND e.user_id || '' = %(user_id)s AND e.type = ANY (%(types)s::text[])) END AS unfolded
FROM (
    SELECT h.position AS head, live.generation, coalesce(live.position, 0) AS folded,
           coalesce(%(since)s::bigint, live.position, 0) AS since
    FROM log.heads h
    LEFT JOIN (SELECT c.partition, c.position, c.generation FROM log.checkpoints c
               JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                     AND g.status = 'live'
               WHERE c.processor = 'people') live ON live.partition = h.partition
    WHERE h.partition = %(partition)s
    OFFSET 0
) place
CROSS JOIN (SELECT count(*) AS number, sum(h.mentions) AS mentions FROM people.handles h
            WHERE h.user_id = %(user_id)s) handles;

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
        {readable e}, NULL, NULL, NULL, NULL, NULL, NULL, NULL, NULL,
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

-- name: add_reference_use
INSERT INTO log.reference_use (user_id, stream, day, uses)
SELECT * FROM unnest(%(users)s::text[], %(names)s::text[], %(days)s::date[], %(uses)s::integer[])
ON CONFLICT (user_id, stream, day) DO UPDATE SET uses = log.reference_use.uses + excluded.uses;

-- name: see_user
-- Both settings hold for the session.
SELECT set_config('cardlog.tenant', %s, false), set_config('plan_cache_mode', %s, false);

-- name: read_session
-- Every query of the read service reads few rows of one user through an index, and takes milliseconds. The statistics
-- of fresh tables can mislead the planner, so sequential scans, parallel workers and JIT are off: they only cost time.
-- statement_timeout ends a query whose caller is gone and whose cancel was lost.
SELECT set_config('enable_seqscan', 'off', false), set_config('max_parallel_workers_per_gather', '0', false),
       set_config('jit', 'off', false), set_config('default_transaction_read_only', 'on', false),
       set_config('statement_timeout', '5s', false),
       -- The vector index holds the vectors of all users. The iterative scan continues until it has enough of one user.
       set_config('hnsw.iterative_scan', 'relaxed_order', false), set_config('hnsw.ef_search', '200', false);

-- name: freshness
-- The progress of every waiting read, in one statement. Only the checkpoint of a live generation counts.
SELECT e.position AS turn,
       x.position AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = w.partition) AS cards,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'vectors' AND c.partition = w.partition) AS vectors,
       h.position AS head,
       -- True when a vectors worker runs and does not report that it falls behind.
       EXISTS (SELECT FROM log.heartbeats s
               WHERE s.stage = 'vectors' AND s.state = 'running'
                 AND s.seen_at > clock_timestamp() - make_interval(secs => %(unseen_s)s)
                 AND coalesce(s.detail, '') NOT LIKE %(falling)s) AS keeps_up
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(keys)s::text[])
    WITH ORDINALITY AS w(partition, user_id, key, number)
JOIN log.heads h ON h.partition = w.partition
LEFT JOIN log.events e ON e.partition = w.partition AND e.user_id = w.user_id AND e.dedupe_key = w.key
    AND e.dedupe_key IS NOT NULL
LEFT JOIN log.checkpoints x ON x.processor = 'extractor' AND x.generation = 0 AND x.partition = w.partition
ORDER BY w.number;

-- name: replay_position
-- Shows if this server is a replica, and the position up to which it has replayed the primary's log.
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint;

-- name: wal_end
-- The end of the flushed write-ahead log. It contains every durable commit, and replicas can have it now.
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint;

-- name: without_vector
-- For each waiting read: true when cards of the token's events wait for their vector, and true when earlier cards of
-- the user do.
SELECT EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position BETWEEN w.since AND w.target) AS theirs,
       EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position < w.since) AS earlier
FROM unnest(%(users)s::text[], %(sinces)s::bigint[], %(targets)s::bigint[])
    WITH ORDINALITY AS w(user_id, since, target, number)
ORDER BY w.number;
