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
    FROM cards.event_cards e
    WHERE e.user_id = %(user_id)s AND e.episode AND NOT e.retracted
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
          AND (NOT starts_with(e.data::text, '{"sealed":"')
               OR EXISTS (SELECT FROM sealing.salts t WHERE t.partition = e.partition AND t.position = e.position)
                  AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = e.user_id))
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
      AND (NOT starts_with(e.data::text, '{"sealed":"')
           OR EXISTS (SELECT FROM sealing.salts t WHERE t.partition = e.partition AND t.position = e.position)
              AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = e.user_id))
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
