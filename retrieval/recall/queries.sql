-- name: card_columns
-- The columns of a card that was found.
card_id, kind, content, entity, concept_key, value, cardinality, tags, occurred_at, occurred_until, effective_at,
       superseded_at, last_verified, created_at, said_at, project_id, context_layer, session_id, agent_id, document_id,
       speaker, turn_ids, source_span, metadata, provenance, confidence, weight, mentions, mode, ended, episode, topics, importance,
       sentiment, title, aliases, definition, pinned, retracted, contested, time_zone, time_grain, time_resolved, alternative_at, event_status,
       stated_status, participants, value_at, value_until, value_grain, term_keys[:least(own_terms, %(most)s)] AS terms

-- name: cards
SELECT {columns}
FROM cards.cards
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]);

-- name: cards_checkpoint
-- The checkpoint of the live card tables, in this snapshot.
SELECT coalesce((
    SELECT c.position FROM log.checkpoints c
    JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
    WHERE c.processor = 'cards' AND c.partition = %(partition)s), 0);

-- name: disputes
-- The open arbitrations of these cards whose new value was said by the instant `at`.
SELECT a.arbitration_id, a.concept_key, a.entity, a.old_card, a.new_card, a.reason
FROM cards.arbitrations a
WHERE a.user_id = %(user_id)s AND a.status = 'open' AND a.said_at <= %(at)s::timestamptz
  AND (a.old_card = ANY (%(cards)s::uuid[]) OR a.new_card = ANY (%(cards)s::uuid[]))
ORDER BY a.said_at, a.arbitration_id;

-- name: frequent_terms
-- The keys of terms and of character pairs that at least `common` of a user's cards hold. Counting stops there.
SELECT key
FROM unnest(%(terms)s::integer[]) key
WHERE (SELECT count(*) FROM (
           SELECT FROM cards.cards holder
           WHERE holder.term_keys @> ARRAY[key] AND (holder.user_id = %(user_id)s) IS TRUE
           LIMIT %(common)s
       ) up_to) >= %(common)s
UNION ALL
SELECT key
FROM unnest(%(pairs)s::integer[]) key
WHERE (SELECT count(*) FROM (
           SELECT FROM cards.cards holder
           WHERE holder.pair_keys @> ARRAY[key] AND (holder.user_id = %(user_id)s) IS TRUE
           LIMIT %(common)s
       ) up_to) >= %(common)s;

-- name: preceding_turns
-- The last turns of each session before its first unread turn. A correction corrects such a turn.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       {readable e} AS data
FROM unnest(%(streams)s::text[], %(versions)s::bigint[]) AS first(stream, version)
CROSS JOIN LATERAL (
    SELECT * FROM log.events e
    WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = first.stream
      AND (first.version IS NULL OR e.version < first.version)
    ORDER BY e.version DESC
    LIMIT %(limit)s
) e
ORDER BY e.stream, e.version;

-- name: turn_episodes
-- The episode of the turn of each card that has one. The events of one extraction lie close together in the log, so the
-- look-up reads a bounded part of the session, by the index of episodes.
SELECT own.card_id AS of_card, episode.*
FROM (
    -- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sums out of the comparison.
    SELECT c.*, c.position - %(near)s AS first, c.position + %(near)s AS last FROM cards.cards c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (ARRAY['state', 'event', 'knowledge'])
      AND c.card_id = ANY (%(cards)s::uuid[])
    OFFSET 0
) own
CROSS JOIN LATERAL (
    SELECT {columns} FROM cards.cards e
    WHERE e.user_id = own.user_id AND e.kind = 'event' AND e.session_id = own.session_id AND e.episode
      AND e.position BETWEEN own.first AND own.last
      AND e.project_id = own.project_id AND e.turn_ids && own.turn_ids
    ORDER BY e.position
    LIMIT 1
) episode;

-- name: turn_facts
-- The other facts of the turn of each of these cards. `own` marks the states of the same extraction, which share its cause,
-- and `past` what was never true, or what another fact superseded by the instant `at`. The retracted cards are read once,
-- and not once for each card.
WITH asked AS MATERIALIZED (
    SELECT card_id, project_id, caused_by, turn_ids FROM cards.cards
    WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[])
)
SELECT e.card_id, s.card_id, s.retracted, s.superseded_at IS NOT NULL AS superseded, true AS own,
       s.superseded_at <= %(at)s AND NOT (s.ended OR s.retracted) AS past
FROM asked e JOIN cards.cards s ON s.user_id = %(user_id)s AND s.kind = 'state' AND s.caused_by = e.caused_by
WHERE s.turn_ids && e.turn_ids AND NOT s.contested AND s.card_id <> e.card_id
UNION ALL
SELECT DISTINCT e.card_id, r.card_id, true, false, false, true
FROM (SELECT card_id, project_id, unnest(turn_ids) AS turn FROM asked) e
JOIN (
    SELECT card_id, project_id, unnest(turn_ids) AS turn FROM cards.cards
    WHERE user_id = %(user_id)s AND retracted AND episode IS NOT TRUE
) r USING (project_id, turn)
WHERE r.card_id <> e.card_id
ORDER BY 1, 2;

-- name: unprojected_events
-- The turns and card events of one user above the checkpoints, the newest first. Without any, one row without an event.
-- The query reads at most `depth` events of the partition, by its primary key. Events of other users cost no more than
-- that. `folded` is the checkpoint of a replica's tables, or null on the primary. `recorded` are the idempotency keys of
-- queued turns that are already in the log. `concluded` and `moded` say whether the user has an insight, and modes, by the
-- keys of the streams. `of_tables` are the columns of tables that the first fold makes.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the difference out of the comparison.
SELECT place.head, place.extracted, place.folded,
       ARRAY(SELECT key FROM unnest(%(keys)s::text[]) key CROSS JOIN LATERAL (
                 SELECT FROM log.events k
                 WHERE k.partition = %(partition)s AND k.user_id = %(user_id)s AND k.dedupe_key = key LIMIT 1) k
       ) AS recorded,
       EXISTS (SELECT FROM log.events i WHERE i.partition = %(partition)s AND i.user_id = %(user_id)s
                 AND i.stream = %(insights)s) AS concluded,
       EXISTS (SELECT FROM log.events m WHERE m.partition = %(partition)s AND m.user_id = %(user_id)s
                 AND m.stream = %(modes)s) AS moded,
       {of_tables},
       e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       {readable e} AS data
FROM (
  SELECT head, extracted, folded, greatest(least(extracted, folded), head - %(depth)s) AS after FROM (
    SELECT h.position AS head,
           coalesce((SELECT c.position FROM log.checkpoints c
                     WHERE c.processor = 'extractor' AND c.generation = 0 AND c.partition = h.partition), 0) AS extracted,
           coalesce(%(folded)s::bigint,
                    (SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'cards' AND c.partition = h.partition), 0) AS folded
    FROM log.heads h WHERE h.partition = %(partition)s
  ) positions
  OFFSET 0
) place
LEFT JOIN LATERAL (
    SELECT own.* FROM log.events own
    WHERE own.partition = %(partition)s
      AND own.position > place.after
      -- The concatenation keeps a generic plan on the positions. The index of users would read the whole history.
      AND own.user_id || '' = %(user_id)s AND own.type = ANY (%(types)s::text[])
    ORDER BY own.position DESC
    LIMIT %(limit)s
) e ON true
ORDER BY e.position DESC;

-- name: of_tables
-- `referring` for a member of a team, and for a question about the past for somebody who ever had a reference. `disputed`
-- for a user with an open arbitration.
%(references)s AND (EXISTS (SELECT FROM "references".members WHERE member = %(user_id)s)
OR %(past)s AND EXISTS (SELECT FROM log.events r WHERE r.partition = %(partition)s AND r.user_id = %(user_id)s
                          AND r.stream >= %(first)s AND r.stream < %(last)s)) AS referring,
EXISTS (SELECT FROM cards.arbitrations a WHERE a.user_id = %(user_id)s AND a.status = 'open') AS disputed

-- name: user_card_count
-- The number of cards of one user, the approximate number of cards of all users, and the clock of the user's latest event.
SELECT cards, greatest(cards, (SELECT reltuples FROM pg_class WHERE oid = 'cards.cards'::regclass)),
       (SELECT time_zone FROM cards.cards
        WHERE user_id = %(user_id)s AND kind = 'event' AND occurred_at <= now()
        ORDER BY occurred_at DESC LIMIT 1)
FROM cards.card_counts WHERE user_id = %(user_id)s;

-- name: slow
SELECT pg_sleep(%(seconds)s);
