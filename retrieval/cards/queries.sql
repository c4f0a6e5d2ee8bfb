-- name: slice
-- One condition for each axis but the status. A parameter that is NULL sets no condition.
c.user_id = %(user_id)s
AND (%(projects)s::text[] IS NULL OR c.project_id = ANY (%(projects)s::text[]))
AND (%(context_layer)s::text[] IS NULL OR c.context_layer = ANY (%(context_layer)s::text[]))
AND (%(session_id)s::text[] IS NULL OR c.session_id = ANY (%(session_id)s::text[]))
AND (%(agent_id)s::text[] IS NULL OR c.agent_id = ANY (%(agent_id)s::text[]))
AND (%(document_id)s::text[] IS NULL OR c.document_id = ANY (%(document_id)s::text[]))
AND (%(metadata)s::text IS NULL OR c.metadata::jsonb @> %(metadata)s::jsonb)
AND (%(speaker)s::text[] IS NULL OR c.speaker = ANY (%(speaker)s::text[]))
AND (%(mode)s::text[] IS NULL OR {mode} = ANY (%(mode)s::text[]))
AND (%(turn_id)s::text[] IS NULL OR c.turn_ids && %(turn_id)s::text[])
AND (%(concept_key)s::text[] IS NULL OR c.concept_key = ANY (%(concept_key)s::text[]))
AND (%(entity)s::text[] IS NULL OR c.entity = ANY (%(entity)s::text[]))
AND (%(value)s::text[] IS NULL OR lower(c.value) = ANY (%(value)s::text[]))
AND (%(cardinality)s::text IS NULL OR c.cardinality = %(cardinality)s::text)
AND (%(tag)s::text IS NULL OR (
        SELECT bool_and(lower(c.tags::text)::text[] && ARRAY(SELECT json_array_elements_text(meant.tags)))
        FROM json_array_elements(%(tag)s::text::json) AS meant(tags)))
AND (%(topic)s::text[] IS NULL OR c.topics && %(topic)s::text[])
AND (%(about)s::text[] IS NULL
     OR (c.term_keys && %(about_any)s::integer[]
         AND EXISTS (SELECT FROM unnest(%(about)s::text[]) AS name(keys)
                     WHERE c.term_keys[1:c.own_terms] @> name.keys::integer[])))
AND (%(provenance)s::text[] IS NULL OR c.provenance = ANY (%(provenance)s::text[]))
AND (%(min_confidence)s::float8 IS NULL OR c.confidence >= %(min_confidence)s::real)
AND (%(max_confidence)s::float8 IS NULL OR c.confidence <= %(max_confidence)s::real)
AND (%(min_weight)s::float8 IS NULL OR c.weight >= %(min_weight)s::real)
AND (%(episode)s::boolean IS NULL OR c.episode = %(episode)s::boolean)
AND (%(pinned)s::boolean IS NULL OR c.kind = 'knowledge' AND c.pinned = %(pinned)s::boolean)
AND (%(min_importance)s::integer IS NULL OR c.importance >= %(min_importance)s::integer)
AND (%(sentiment)s::text[] IS NULL OR c.sentiment = ANY (%(sentiment)s::text[]))
AND (%(created_from)s::timestamptz IS NULL OR c.created_at >= %(created_from)s::timestamptz)
AND (%(created_to)s::timestamptz IS NULL OR c.created_at < %(created_to)s::timestamptz)
AND (%(occurred_from)s::timestamptz IS NULL OR c.occurred_at >= %(occurred_from)s::timestamptz
     OR c.occurred_until > %(occurred_from)s::timestamptz)
AND (%(occurred_to)s::timestamptz IS NULL OR c.occurred_at < %(occurred_to)s::timestamptz)
AND (%(effective_from)s::timestamptz IS NULL OR c.effective_at >= %(effective_from)s::timestamptz)
AND (%(effective_to)s::timestamptz IS NULL OR c.effective_at < %(effective_to)s::timestamptz)
AND (%(superseded_from)s::timestamptz IS NULL OR c.superseded_at >= %(superseded_from)s::timestamptz)
AND (%(superseded_to)s::timestamptz IS NULL OR c.superseded_at < %(superseded_to)s::timestamptz)
AND (%(verified_from)s::timestamptz IS NULL OR c.last_verified >= %(verified_from)s::timestamptz)
AND (%(verified_to)s::timestamptz IS NULL OR c.last_verified < %(verified_to)s::timestamptz)
AND (%(predicate)s::text[] IS NULL AND %(related_to)s::uuid IS NULL
     OR c.card_id IN (
        SELECT side.card FROM {relations} r
        CROSS JOIN LATERAL (VALUES (r.from_card, r.to_card), (r.to_card, r.from_card)) AS side(card, other)
        WHERE r.user_id = %(user_id)s AND NOT r.refused
          AND (%(predicate)s::text[] IS NULL OR r.predicate = ANY (%(predicate)s::text[]))
          AND (%(related_to)s::uuid IS NULL OR side.other = %(related_to)s::uuid)
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)))
AND (NOT %(collapse)s OR c.card_id <> ALL (%(duplicates)s::uuid[]))
AND (%(recalled)s::boolean IS NULL OR %(recalled)s::boolean = (c.card_id IN (
        SELECT u.card_id FROM log.card_use u WHERE u.user_id = %(user_id)s)))

-- name: status
-- The status of a card at the instant `at`. An event is superseded from when a later event replaced it. With `as_of`, an
-- event after that instant is in the future, unless its plan had been told by then. An edge stated by an actor counts
-- like an edge that a timeline implies.
CASE
    WHEN c.retracted OR c.card_id IN (
        SELECT r.to_card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND NOT r.implied AND NOT r.refused AND r.predicate = 'retracts'
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)) THEN 'retracted'
    WHEN c.contested THEN 'contested'
    WHEN CASE c.kind WHEN 'event' THEN %(as_of)s::timestamptz IS NOT NULL AND c.occurred_at > %(as_of)s::timestamptz
                                         AND (c.stated_status = 'happened' OR c.said_at > %(as_of)s::timestamptz)
                     ELSE c.effective_at > %(at)s::timestamptz END THEN 'future'
    WHEN c.superseded_at <= %(at)s::timestamptz THEN 'superseded'
    WHEN c.kind <> 'event' AND c.card_id IN (
        SELECT r.to_card FROM {relations} r
        JOIN cards.cards newer ON newer.user_id = r.user_id AND newer.card_id = r.from_card
                              AND newer.kind IN ('state', 'event', 'knowledge')
        WHERE r.user_id = %(user_id)s AND NOT r.implied AND NOT r.refused AND r.predicate IN ('update', 'state_change')
          AND NOT newer.retracted AND coalesce(newer.occurred_at, newer.effective_at) <= %(at)s::timestamptz
          AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)) THEN 'superseded'
    ELSE 'current'
END

-- name: mode
-- The present name of the mode of a card. `meant` are the names that do not mean themselves, as a name, or as a project,
-- U+001F and a name. A reference is outside modes.
CASE WHEN c.kind <> 'reference' THEN
    coalesce(%(meant)s::json ->> (c.project_id || E'\x1f' || c.mode), %(meant)s::json ->> c.mode, c.mode, 'general')
END

-- name: cards
SELECT {columns}, {status} AS status
FROM {cards} c
WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = ANY (%(cards)s::uuid[]);

-- name: cards_named
-- The cards of some kinds among those that name a person, the last said first.
SELECT {columns}, {status} AS status
FROM ({named}) named
JOIN {cards} c ON c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = named.event_id
ORDER BY named.said_at DESC, named.event_id DESC;

-- name: same_as_named
-- The same_as edges of all cards that are connected with a card that names a person.
WITH RECURSIVE met(card) AS (
    SELECT named.event_id FROM ({named}) named
    UNION
    SELECT side.other FROM met CROSS JOIN LATERAL (
        SELECT r.to_card AS other FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.from_card = met.card AND r.predicate = 'same_as' AND NOT r.refused
        UNION ALL
        SELECT r.from_card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.to_card = met.card AND r.predicate = 'same_as' AND NOT r.refused
    ) side
)
SELECT r.from_card, r.to_card, r.predicate
FROM met JOIN {relations} r ON r.user_id = %(user_id)s AND r.from_card = met.card
WHERE r.predicate = 'same_as' AND NOT r.refused;

-- name: items
 LEFT JOIN LATERAL unnest(fine.{axis}) AS {items}(item) ON true

-- name: page
-- A page of one kind. The primary key has the order of the pages, and so has the index of the kinds that are no events.
-- The planner expects that one card of 200 has the status, and would sort all cards of the user. OFFSET 0 keeps the
-- status out of the choice of the index. An outer ORDER BY would also read all cards.
SELECT *
FROM (
    SELECT {columns}, {status} AS status
    FROM {cards} c
    WHERE c.kind = %(kind)s AND {slice}
      AND (%(before)s::uuid IS NULL OR c.card_id < %(before)s::uuid)
    ORDER BY c.card_id DESC
    OFFSET 0
) slice
WHERE %(status)s::text[] IS NULL OR status = ANY (%(status)s::text[])
LIMIT %(limit)s;

-- name: predicates
ARRAY(SELECT DISTINCT r.predicate FROM {relations} r
      WHERE r.user_id = c.user_id AND NOT r.refused AND (r.from_card = c.card_id OR r.to_card = c.card_id)
      ORDER BY r.predicate)

-- name: reachable_relations
-- The edges of these predicates that are reachable from the cards: towards the cards that came after them, and with
-- `older` in both directions. Each card is visited once, the nearest first, and `visited` cards at most. From these cards
-- the `chains` are followed to their ends, over `followed` cards at most: a chain that is cut has an old value at its end.
WITH RECURSIVE near(card) AS (
    SELECT unnest(%(cards)s::uuid[])
    UNION
    SELECT next.card FROM near
    CROSS JOIN LATERAL (
        SELECT r.from_card AS card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.to_card = near.card AND r.predicate = ANY (%(predicates)s::text[])
          AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
        UNION ALL
        SELECT r.to_card FROM {relations} r
        WHERE %(older)s AND r.user_id = %(user_id)s AND r.from_card = near.card
          AND r.predicate = ANY (%(predicates)s::text[]) AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
    ) next
), later(card) AS (
    (SELECT card FROM near LIMIT %(visited)s)
    UNION
    SELECT next.card FROM later
    CROSS JOIN LATERAL (
        -- OFFSET 0 looks up the edges of one card. A join would read all edges of the user for each step of a chain.
        SELECT r.from_card AS card FROM {relations} r
        WHERE r.user_id = %(user_id)s AND r.to_card = later.card AND r.predicate = ANY (%(chains)s::text[])
          AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
        OFFSET 0
    ) next
)
SELECT r.from_card, r.to_card, r.predicate, r.reason, r.confidence, r.implied, r.refused, r.actor, r.event_id, r.created_at
FROM (SELECT card FROM later LIMIT %(followed)s) later
CROSS JOIN LATERAL (
    SELECT r.* FROM {relations} r
    WHERE r.user_id = %(user_id)s AND r.from_card = later.card AND r.predicate = ANY (%(predicates)s::text[])
      AND NOT r.refused AND r.implied = ANY (%(implied)s::boolean[])
      AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz)
    OFFSET 0
) r
ORDER BY r.created_at, r.event_id, r.from_card, r.to_card
LIMIT %(limit)s;

-- name: aggregate
-- The query groups twice. The first grouping uses the stored values and is fast. The second uses the values of the axes,
-- for far fewer rows. The first grouping puts instants into quarters of an hour, because the days of every time zone
-- begin at one. It groups lists as a whole.
WITH fine AS MATERIALIZED (
    SELECT {held}, count(*) AS count
    FROM (
        SELECT c.kind, c.project_id, c.context_layer, c.session_id, c.agent_id, c.document_id, c.speaker, {mode} AS mode,
               c.concept_key, c.entity, c.value, c.cardinality, c.provenance, c.episode, c.importance, c.sentiment,
               c.confidence, c.weight, c.tags, c.topics,
               date_bin('15 minutes', c.created_at, '2000-01-01Z') AS created_at,
               date_bin('15 minutes', c.occurred_at, '2000-01-01Z') AS occurred_at,
               date_bin('15 minutes', c.effective_at, '2000-01-01Z') AS effective_at,
               date_bin('15 minutes', c.superseded_at, '2000-01-01Z') AS superseded_at,
               date_bin('15 minutes', c.last_verified, '2000-01-01Z') AS last_verified,
               date_bin('15 minutes', coalesce(c.occurred_at, c.effective_at), '2000-01-01Z') AS time,
               {status} AS status, {predicates} AS predicate
        FROM {cards} c
        WHERE c.kind = ANY (%(kinds)s::text[]) AND {slice}
    ) slice
    WHERE %(status)s::text[] IS NULL OR status = ANY (%(status)s::text[])
    GROUP BY {held}
)
SELECT {made}, sum(count)::bigint AS count, (sum(sum(count)) OVER ())::bigint AS total
FROM fine{lists}
GROUP BY {places}
ORDER BY {order}
LIMIT %(limit)s;

-- name: arbitrations
-- Without known_at, no arbitration is hidden and none is folded again.
SELECT a.arbitration_id, a.project_id, a.entity, a.concept_key, a.old_card, a.new_card, a.old_value, a.new_value,
       a.reason, a.evidence, a.status, a.said_at, a.opened_at, a.settled_at
FROM (SELECT k.* FROM cards.arbitrations k
      WHERE k.user_id = %(user_id)s AND (%(known_position)s::bigint IS NULL OR k.position <= %(known_position)s)
        AND k.arbitration_id <> ALL (%(hidden)s::uuid[])
      UNION ALL
      SELECT * FROM json_populate_recordset(NULL::cards.arbitrations, %(known_arbitrations)s::text::json)) a
WHERE a.user_id = %(user_id)s
  AND (%(as_of)s::timestamptz IS NULL OR a.said_at <= %(as_of)s::timestamptz)
  AND (%(arbitration)s::uuid IS NULL OR a.arbitration_id = %(arbitration)s::uuid)
  AND (%(status)s::text[] IS NULL OR a.status = ANY (%(status)s::text[]))
  AND (%(projects)s::text[] IS NULL OR a.project_id = ANY (%(projects)s::text[]))
  AND (%(reached_projects)s::text[] IS NULL OR a.project_id = ANY (%(reached_projects)s::text[]))
  AND (%(reached_modes)s::text[] IS NULL OR NOT EXISTS (
        SELECT FROM cards.cards c
        WHERE c.user_id = a.user_id AND c.kind = 'state' AND c.card_id IN (a.old_card, a.new_card)
          AND coalesce(c.mode, 'general') <> ALL (%(reached_modes)s::text[])))
  AND (%(before)s::uuid IS NULL OR a.arbitration_id < %(before)s::uuid)
ORDER BY a.arbitration_id DESC
LIMIT %(limit)s;

-- name: identity
-- The statements of the identity of this card, by their events.
SELECT s.identity, s.event_id
FROM cards.statements own JOIN cards.statements s USING (user_id, identity)
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid;

-- name: links
-- The cards that belong to a card: concepts and cards that are related to it in either direction, the episode of its turn,
-- and for an episode the other cards of its turn. `mark` says which.
WITH own AS (
    SELECT * FROM {cards} c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = %(card)s::uuid
)
SELECT 'related' AS mark, c.card_id
FROM own JOIN {cards} c ON c.user_id = own.user_id AND c.kind = 'knowledge' AND c.project_id = own.project_id
WHERE own.kind = 'knowledge' AND c.card_id <> own.card_id
  AND (c.name_keys && own.related_keys OR own.name_keys && c.related_keys)
UNION
SELECT 'related', c.card_id
FROM own JOIN {relations} r ON r.user_id = own.user_id AND own.card_id IN (r.from_card, r.to_card)
JOIN {cards} c ON c.user_id = own.user_id AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id IN (r.from_card, r.to_card)
WHERE r.predicate = 'related_to' AND NOT r.refused AND c.card_id <> own.card_id
UNION
SELECT CASE WHEN own.episode THEN 'gave_rise_to' ELSE 'episode' END, c.card_id
FROM own JOIN {cards} c ON c.user_id = own.user_id AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id <> own.card_id
WHERE c.turn_ids && own.turn_ids AND c.project_id = own.project_id
  AND coalesce(c.episode, false) <> coalesce(own.episode, false)
ORDER BY 1, 2
LIMIT %(limit)s;

-- name: neighbours
-- What stands beside these cards: stated and implied edges, related concepts, and the other cards of an episode's turn.
WITH own AS MATERIALIZED (
    SELECT * FROM {cards} c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = ANY (%(cards)s::uuid[])
)
SELECT r.from_card, r.to_card, r.predicate FROM {relations} r
WHERE r.user_id = %(user_id)s AND r.from_card = ANY (%(cards)s::uuid[]) AND NOT r.refused
UNION
SELECT r.from_card, r.to_card, r.predicate FROM {relations} r
WHERE r.user_id = %(user_id)s AND r.to_card = ANY (%(cards)s::uuid[]) AND NOT r.refused
UNION
SELECT least(own.card_id, c.card_id), greatest(own.card_id, c.card_id), 'related_to'
FROM own JOIN {cards} c ON c.user_id = own.user_id AND c.kind = 'knowledge' AND c.project_id = own.project_id
WHERE own.kind = 'knowledge' AND c.card_id <> own.card_id
  AND (c.name_keys && own.related_keys OR own.name_keys && c.related_keys)
UNION
SELECT CASE WHEN own.episode THEN own.card_id ELSE c.card_id END,
       CASE WHEN own.episode THEN c.card_id ELSE own.card_id END, 'gave_rise_to'
FROM (SELECT own.*, turn FROM own CROSS JOIN LATERAL unnest(own.turn_ids) AS of(turn)) own
JOIN (SELECT c.card_id, c.project_id, c.episode, turn FROM {cards} c CROSS JOIN LATERAL unnest(c.turn_ids) AS of(turn)
      WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[])) c
  -- Equal turns, and not overlapping lists: the cards of the user are then read once, and not once for each card.
  ON c.turn = own.turn AND c.project_id = own.project_id AND c.card_id <> own.card_id
WHERE coalesce(c.episode, false) <> coalesce(own.episode, false)
ORDER BY 1, 2, 3
LIMIT %(limit)s;

-- name: names
-- Every name of the concepts that have this name, or of this card.
SELECT DISTINCT name
FROM {cards} c CROSS JOIN LATERAL unnest(ARRAY[c.title] || c.aliases) AS of(name)
WHERE c.user_id = %(user_id)s AND c.kind = 'knowledge' AND (c.card_id = %(card)s::uuid OR c.name_keys @> ARRAY[%(key)s::text]);

-- name: own_statement
-- The event of the statement that has the id of a card.
SELECT {event e}
FROM cards.statements own
JOIN log.events e ON e.partition = own.partition AND e.position = own.position
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid
LIMIT 1;

-- name: part_of
-- The card that a statement is part of now: a card of the same identity and the same turn. The statement may have had
-- its own card before.
SELECT c.card_id
FROM cards.statements own
JOIN cards.statements s ON s.user_id = own.user_id AND s.identity = own.identity
JOIN cards.cards c ON c.user_id = s.user_id AND c.kind IN ('state', 'knowledge') AND c.card_id = s.event_id
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid
  AND c.turn_ids @> %(turn_ids)s::text[]
ORDER BY lower(c.value) = lower(%(value)s::text) DESC, c.card_id
LIMIT 1;

-- name: place_at
-- The last position recorded by an instant, by binary search. Positions and `recorded_at` grow together.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sum out of the comparison.
WITH RECURSIVE search(low, high) AS (
    SELECT 0::bigint, h.position FROM log.heads h WHERE h.partition = %(partition)s
    UNION ALL
    SELECT CASE WHEN e.recorded_at <= %(known_at)s THEN e.position ELSE search.low END,
           CASE WHEN e.recorded_at <= %(known_at)s THEN search.high ELSE e.position - 1 END
    FROM search
    CROSS JOIN LATERAL (SELECT (search.low + search.high + 1) / 2 AS position OFFSET 0) middle
    JOIN log.events e ON e.partition = %(partition)s AND e.position = middle.position
    WHERE search.low < search.high
)
SELECT low FROM search WHERE low >= high;

-- name: relations
SELECT r.from_card, r.to_card, r.predicate, r.reason, r.confidence, r.implied, r.refused, r.actor, r.event_id, r.created_at
FROM {relations} r
WHERE r.user_id = %(user_id)s AND (r.from_card = %(card)s::uuid OR r.to_card = %(card)s::uuid)
  AND (%(predicate)s::text[] IS NULL OR r.predicate = ANY (%(predicate)s::text[]))
ORDER BY r.created_at, r.event_id, r.predicate, r.from_card, r.to_card;

-- name: replaced_since
-- All events of the chains in which an event was replaced or got a remark after a position, and the remarks on them. With
-- `cards`, only the chains of these cards.
WITH RECURSIVE chain(card) AS (
    (SELECT r.target
     FROM cards.remarks r
     JOIN cards.cards c ON c.user_id = r.user_id AND c.kind = 'event' AND c.card_id = r.target
     WHERE r.user_id = %(user_id)s AND r.position > %(known_position)s
       AND (%(cards)s::uuid[] IS NULL OR r.target = ANY (%(cards)s::uuid[]))
     UNION
     SELECT r.to_card
     FROM cards.relations r
     JOIN cards.cards newer ON newer.user_id = r.user_id AND newer.kind = 'event' AND newer.card_id = r.from_card
     WHERE r.user_id = %(user_id)s AND r.implied AND r.predicate = 'update' AND newer.position > %(known_position)s
       AND (%(cards)s::uuid[] IS NULL OR r.to_card = ANY (%(cards)s::uuid[])))
    UNION
    SELECT side.other FROM chain
    CROSS JOIN LATERAL (
        SELECT r.from_card AS other FROM cards.relations r
        WHERE r.user_id = %(user_id)s AND r.to_card = chain.card AND r.implied AND r.predicate = 'update'
        UNION ALL
        SELECT r.to_card FROM cards.relations r
        WHERE r.user_id = %(user_id)s AND r.from_card = chain.card AND r.implied AND r.predicate = 'update'
    ) side
)
SELECT {event e}
FROM chain
JOIN cards.cards c ON c.user_id = %(user_id)s AND c.kind = 'event' AND c.card_id = chain.card
CROSS JOIN LATERAL (
    SELECT c.position UNION ALL
    SELECT r.position FROM cards.remarks r WHERE r.user_id = c.user_id AND r.target = c.card_id
) said
JOIN log.events e ON e.partition = %(partition)s AND e.position = said.position
ORDER BY e.position;

-- name: said_since
-- All statements and remarks of the identities that have later ones than a position, or of the identities of the cards.
-- Identities that share an event can only be folded together, so the connected identities are included.
WITH RECURSIVE meant(identity) AS (
    (SELECT s.identity FROM cards.statements s
     WHERE s.user_id = %(user_id)s AND s.position > %(known_position)s AND %(cards)s::uuid[] IS NULL
     UNION
     SELECT s.identity FROM cards.remarks r JOIN cards.statements s ON s.user_id = r.user_id AND s.event_id = r.target
     WHERE r.user_id = %(user_id)s AND r.position > %(known_position)s AND %(cards)s::uuid[] IS NULL
     UNION
     SELECT s.identity FROM cards.statements s
     WHERE s.user_id = %(user_id)s AND s.event_id = ANY (%(cards)s::uuid[]))
    UNION
    SELECT other.identity FROM meant
    JOIN cards.statements s ON s.user_id = %(user_id)s AND s.identity = meant.identity
    JOIN cards.statements other ON other.user_id = s.user_id AND other.event_id = s.event_id
), found AS MATERIALIZED (
    -- OFFSET 0 looks up one identity, and below one event, after the other. A join would read all statements and the log.
    SELECT s.* FROM meant CROSS JOIN LATERAL (
        SELECT o.identity, o.event_id, o.partition, o.position
        FROM cards.statements o WHERE o.user_id = %(user_id)s AND o.identity = meant.identity OFFSET 0
    ) s
), stated AS (
    SELECT identity, event_id, partition, position FROM found
    UNION ALL
    SELECT DISTINCT NULL, r.event_id, r.partition, r.position
    FROM cards.remarks r WHERE r.user_id = %(user_id)s AND r.target IN (SELECT event_id FROM found)
)
SELECT stated.identity, {event e}
FROM stated CROSS JOIN LATERAL (
    SELECT * FROM log.events l WHERE l.partition = stated.partition AND l.position = stated.position OFFSET 0
) e
ORDER BY e.position;

-- name: same_as
SELECT r.from_card, r.to_card, r.predicate
FROM {relations} r
WHERE r.user_id = %(user_id)s AND r.predicate = 'same_as' AND NOT r.refused
  AND (%(known_at)s::timestamptz IS NULL OR r.created_at <= %(known_at)s::timestamptz);

-- name: tag_aliases
SELECT alias, tag FROM cards.tag_aliases WHERE user_id = %(user_id)s;

-- name: updates
SELECT u.card_id, u.changed_at, u.old_value, u.new_value, u.old_content, u.reason, u.event_id
FROM {updates} u
WHERE u.user_id = %(user_id)s AND u.card_id = ANY (%(cards)s::uuid[])
ORDER BY u.changed_at, u.event_id;

-- name: known_cards
-- The cards as they were known then: the cards without later statements, and the refolded cards of the others.
(SELECT k.* FROM cards.cards k
 WHERE k.user_id = %(user_id)s AND k.position <= %(known_position)s
   AND k.card_id <> ALL (%(hidden)s::uuid[])
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.cards, %(known_cards)s::text::json))

-- name: known_relations
(SELECT k.* FROM cards.relations k
 WHERE k.user_id = %(user_id)s AND k.created_at <= %(known_at)s::timestamptz
   AND NOT (k.implied AND k.event_id = ANY (%(hidden)s::uuid[]))
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.relations, %(known_relations)s::text::json))

-- name: known_updates
(SELECT k.* FROM cards.card_update_log k
 WHERE k.user_id = %(user_id)s AND k.card_id <> ALL (%(hidden)s::uuid[])
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.card_update_log, %(known_updates)s::text::json))

-- name: reached_cards
-- The cards within the reach of a key. A card without a mode belongs to the general mode.
(SELECT reached.* FROM {cards} reached
 WHERE reached.user_id = %(user_id)s AND reached.kind IN ('state', 'event', 'knowledge')
   AND (%(reached_projects)s::text[] IS NULL OR reached.project_id = ANY (%(reached_projects)s::text[]))
   AND (%(reached_modes)s::text[] IS NULL OR coalesce(reached.mode, 'general') = ANY (%(reached_modes)s::text[])))

-- name: made_of_list
{items}.item AS {axis}

-- name: made_of_tenths
floor(fine.{axis}::numeric * 10) / 10 AS {axis}

-- name: made_of_time
date_trunc(%(bucket)s, fine.{axis}, %(timezone)s) AS {axis}

-- name: aggregate_settings
-- The planner expects few rows in a slice and would sort them. Hashing is faster for a million rows.
SELECT set_config('enable_sort', 'off', true), set_config('work_mem', '64MB', true);

-- name: add_use
-- Cards that do not exist are not counted: a late count brings nothing of an erased card back.
WITH used AS (
    SELECT u.user_id, u.name::uuid AS card_id, u.day, u.uses
    FROM unnest(%(users)s::text[], %(names)s::text[], %(days)s::date[], %(uses)s::integer[]) AS u(user_id, name, day, uses)
    JOIN cards.cards c ON c.user_id = u.user_id AND c.card_id = u.name::uuid
), by_day AS (
    INSERT INTO log.answer_use (user_id, day, cards)
    SELECT user_id, day, sum(uses) FROM used GROUP BY user_id, day ORDER BY user_id, day
    ON CONFLICT (user_id, day) DO UPDATE SET cards = log.answer_use.cards + excluded.cards
), old AS (
    DELETE FROM log.answer_use a
    WHERE a.user_id = ANY (%(users)s::text[]) AND a.day < (SELECT max(day) - 92 FROM used)
)
INSERT INTO log.card_use (user_id, card_id, uses, last_day)
SELECT user_id, card_id, sum(uses), max(day) FROM used GROUP BY user_id, card_id ORDER BY user_id, card_id
ON CONFLICT (user_id, card_id) DO UPDATE
SET uses = log.card_use.uses + excluded.uses, last_day = greatest(log.card_use.last_day, excluded.last_day);

-- name: most_used
SELECT card_id, uses, last_day FROM log.card_use WHERE user_id = %(user_id)s
ORDER BY uses DESC, last_day DESC, card_id LIMIT %(limit)s;

-- name: used_by_day
SELECT day, cards FROM log.answer_use
WHERE user_id = %(user_id)s AND day > (now() AT TIME ZONE 'UTC')::date - %(days)s::integer ORDER BY day;

-- name: vectors_of
-- The vectors of some cards, of the embedder that has most of them.
WITH found AS (
    SELECT v.card_id, v.model, v.embedding::vector FROM vectors.card_vectors_384 v
    WHERE v.user_id = %(user_id)s AND v.card_id = ANY (%(cards)s::uuid[])
    UNION ALL
    SELECT v.card_id, v.model, v.embedding::vector FROM vectors.card_vectors_768 v
    WHERE v.user_id = %(user_id)s AND v.card_id = ANY (%(cards)s::uuid[])
    UNION ALL
    SELECT v.card_id, v.model, v.embedding::vector FROM vectors.card_vectors_1024 v
    WHERE v.user_id = %(user_id)s AND v.card_id = ANY (%(cards)s::uuid[])
)
SELECT card_id, model, embedding FROM found
WHERE model = (SELECT model FROM found GROUP BY model ORDER BY count(*) DESC, model LIMIT 1);
