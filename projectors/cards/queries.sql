-- name: connections_in_force
-- The stated edges that are reachable from these cards, along the direction of the edges.
WITH RECURSIVE link AS (
    SELECT r.user_id, r.from_card, r.to_card, r.predicate
    FROM unnest(%(users)s::text[], %(cards)s::uuid[]) AS start(user_id, card)
    JOIN relations r ON r.user_id = start.user_id AND r.from_card = start.card
    WHERE r.predicate = ANY (%(predicates)s::text[]) AND NOT r.implied AND NOT r.refused
    UNION
    SELECT r.user_id, r.from_card, r.to_card, r.predicate
    FROM link JOIN relations r ON r.user_id = link.user_id AND r.from_card = link.to_card
    WHERE r.predicate = ANY (%(predicates)s::text[]) AND NOT r.implied AND NOT r.refused
)
SELECT user_id, from_card, to_card, predicate FROM link;

-- name: connected_people
-- The ties and the events about people that are connected with these people, over other people too.
WITH RECURSIVE met(user_id, person) AS (
    SELECT * FROM unnest(%(users)s::text[], %(people)s::uuid[])
    UNION
    SELECT met.user_id, other.person
    FROM met CROSS JOIN LATERAL (
        SELECT t.tied AS person FROM ties t WHERE t.user_id = met.user_id AND t.alone = met.person
        UNION ALL
        SELECT t.alone FROM ties t WHERE t.user_id = met.user_id AND t.tied = met.person
        UNION ALL
        SELECT n.other FROM person_events n WHERE n.user_id = met.user_id AND n.one = met.person
    ) other
)
SELECT t.user_id, t.alone, t.tied, t.kin, t.mentions, NULL::smallint AS partition, NULL::bigint AS position
FROM met JOIN ties t ON t.user_id = met.user_id AND t.alone = met.person
UNION ALL
SELECT DISTINCT n.user_id, NULL::uuid, NULL::uuid, NULL::uuid, NULL::bigint, n.partition, n.position
FROM met JOIN person_events n ON n.user_id = met.user_id AND n.one = met.person;

-- name: digest
-- The digest does not depend on the order of rows. It is two 64-bit sums over every column, as PostgreSQL writes a row.
WITH line AS (
    SELECT 'cards' AS name, t::text AS content FROM cards t
    UNION ALL SELECT 'statements', t::text FROM statements t
    UNION ALL SELECT 'remarks', t::text FROM remarks t
    UNION ALL SELECT 'arbitrations', t::text FROM arbitrations t
    UNION ALL SELECT 'card_update_log', t::text FROM card_update_log t
    UNION ALL SELECT 'tag_aliases', t::text FROM tag_aliases t
    UNION ALL SELECT 'relations', t::text FROM relations t
    UNION ALL SELECT 'ties', t::text FROM ties t
    UNION ALL SELECT 'person_events', t::text FROM person_events t
    UNION ALL SELECT 'card_counts', t::text FROM card_counts t
    UNION ALL SELECT 'words', t::text FROM words t
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: known_remarks
SELECT {event e}
FROM unnest(%(users)s::text[], %(targets)s::uuid[]) AS said(user_id, event_id)
JOIN remarks r ON r.user_id = said.user_id AND r.target = said.event_id
JOIN log.events e ON e.partition = r.partition AND e.position = r.position
ORDER BY e.partition, e.position;

-- name: known_statements
SELECT s.identity, s.person, {event e}
FROM unnest(%(users)s::text[], %(identities)s::text[]) AS wanted(user_id, identity)
JOIN statements s USING (user_id, identity)
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
ORDER BY e.partition, e.position;

-- name: recalled_events
SELECT {event e}
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS place(partition, position)
JOIN log.events e USING (partition, position)
ORDER BY e.partition, e.position;

-- name: reference_terms
SELECT c.user_id, c.card_id, c.own_terms
FROM cards c
JOIN unnest(%(users)s::text[], %(cards)s::uuid[]) AS asked(user_id, card_id) USING (user_id, card_id)
WHERE c.kind = 'reference';

-- name: remarked_statements
SELECT s.user_id, s.identity
FROM unnest(%(users)s::text[], %(targets)s::uuid[]) AS remark(user_id, target)
JOIN statements s ON s.user_id = remark.user_id AND s.event_id = remark.target;

-- name: statements_about
SELECT DISTINCT s.user_id, s.identity
FROM unnest(%(users)s::text[], %(people)s::uuid[]) AS about(user_id, person)
JOIN statements s ON s.user_id = about.user_id AND s.person = about.person;

-- name: replaced_events
-- Noted events that have a card, and the events that replace them. Only timelines of states and knowledge, and noted
-- events, imply updates.
SELECT {event e}
FROM (
    SELECT t.user_id, t.card_id, t.partition
    FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[]) AS t(user_id, card_id, partition)
    UNION
    SELECT t.user_id, r.from_card, t.partition
    FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[]) AS t(user_id, card_id, partition)
    JOIN relations r ON r.user_id = t.user_id AND r.to_card = t.card_id
    WHERE r.predicate = 'update' AND r.implied
) held
JOIN cards c ON c.user_id = held.user_id AND c.kind = 'event' AND c.card_id = held.card_id
JOIN log.events e ON e.partition = held.partition AND e.position = c.position
ORDER BY e.partition, e.position;

-- name: folded
-- True when a row of the user was made of one of these events.
SELECT (EXISTS (SELECT FROM cards WHERE user_id = %(user_id)s AND card_id = ANY (%(events)s::uuid[]))
    -- The words of a reference come from its last op, and the id of its card from its creation.
    OR EXISTS (SELECT FROM cards WHERE user_id = %(user_id)s AND kind = 'reference')
    OR EXISTS (SELECT FROM statements WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM remarks WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM person_events WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM tag_aliases WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))
    OR EXISTS (SELECT FROM relations WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]))) AS folded;

-- name: held
-- The number of rows of a user, by table.
SELECT 'cards' AS table_name, count(*) AS held FROM cards WHERE user_id = %(user_id)s
UNION ALL SELECT 'statements', count(*) FROM statements WHERE user_id = %(user_id)s
UNION ALL SELECT 'remarks', count(*) FROM remarks WHERE user_id = %(user_id)s
UNION ALL SELECT 'arbitrations', count(*) FROM arbitrations WHERE user_id = %(user_id)s
UNION ALL SELECT 'card_update_log', count(*) FROM card_update_log WHERE user_id = %(user_id)s
UNION ALL SELECT 'tag_aliases', count(*) FROM tag_aliases WHERE user_id = %(user_id)s
UNION ALL SELECT 'relations', count(*) FROM relations WHERE user_id = %(user_id)s
UNION ALL SELECT 'ties', count(*) FROM ties WHERE user_id = %(user_id)s
UNION ALL SELECT 'person_events', count(*) FROM person_events WHERE user_id = %(user_id)s
UNION ALL SELECT 'card_counts', count(*) FROM card_counts WHERE user_id = %(user_id)s
UNION ALL SELECT 'words', count(*) FROM words WHERE user_id = %(user_id)s;

-- name: alias_tags
-- The latest alias of a tag counts, in whatever order aliases are folded.
INSERT INTO tag_aliases AS t (user_id, alias, tag, changed_at, event_id)
SELECT * FROM unnest(%(users)s::text[], %(aliases)s::text[], %(tags)s::text[], %(instants)s::timestamptz[],
                     %(events)s::uuid[])
ON CONFLICT (user_id, alias) DO UPDATE SET tag = EXCLUDED.tag, changed_at = EXCLUDED.changed_at,
                                           event_id = EXCLUDED.event_id
WHERE (EXCLUDED.changed_at, EXCLUDED.event_id) > (t.changed_at, t.event_id);

-- name: set_standings
UPDATE cards c
SET event_status = standing.event_status, last_verified = standing.last_verified, mode = standing.mode,
    superseded_at = standing.superseded_at, retracted = standing.retracted
FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(statuses)s::text[], %(verified)s::timestamptz[], %(modes)s::text[],
            %(instants)s::timestamptz[], %(retracted)s::boolean[])
     AS standing(user_id, card_id, event_status, last_verified, mode, superseded_at, retracted)
WHERE c.user_id = standing.user_id AND c.kind = 'event' AND c.card_id = standing.card_id;

-- name: add_counts
INSERT INTO card_counts AS c (user_id, cards, terms)
SELECT * FROM unnest(%(users)s::text[], %(cards)s::bigint[], %(terms)s::bigint[])
ON CONFLICT (user_id) DO UPDATE SET cards = c.cards + EXCLUDED.cards, terms = c.terms + EXCLUDED.terms;

-- name: add_ties
INSERT INTO ties AS t (user_id, alone, tied, kin, mentions)
SELECT * FROM unnest(%(users)s::text[], %(alone)s::uuid[], %(tied)s::uuid[], %(kin)s::uuid[], %(mentions)s::bigint[])
ON CONFLICT (user_id, alone, tied) DO UPDATE SET mentions = t.mentions + EXCLUDED.mentions;

-- name: add_words
INSERT INTO words (user_id, word, term_key, gram_keys)
SELECT user_id, word, term_key, gram_keys::integer[]
FROM unnest(%(users)s::text[], %(words)s::text[], %(keys)s::integer[], %(grams)s::text[])
     AS seen(user_id, word, term_key, gram_keys)
ON CONFLICT DO NOTHING;

-- name: copy_counts
COPY {into} (user_id, cards, terms) FROM STDIN;

-- name: copy_person_events
COPY {into} (user_id, one, event_id, partition, position, other) FROM STDIN;

-- name: copy_remarks
COPY {into} (user_id, target, event_id, partition, position) FROM STDIN;

-- name: copy_rows
COPY {into} ({columns}) FROM STDIN;

-- name: copy_statements
COPY {into} (user_id, identity, event_id, partition, position, person) FROM STDIN;

-- name: copy_words
COPY {into} (user_id, word, term_key, gram_keys) FROM STDIN;

-- name: delete_arbitrations
DELETE FROM arbitrations a
USING unnest(%(users)s::text[], %(arbitrations)s::uuid[]) AS gone(user_id, arbitration_id)
WHERE a.user_id = gone.user_id AND a.arbitration_id = gone.arbitration_id;

-- name: delete_cards
DELETE FROM cards c
USING unnest(%(users)s::text[], %(kinds)s::text[], %(cards)s::uuid[]) AS gone(user_id, kind, card_id)
WHERE c.user_id = gone.user_id AND c.kind = gone.kind AND c.card_id = gone.card_id;

-- name: delete_counts
-- A user without cards has no row.
DELETE FROM card_counts WHERE user_id = ANY (%(users)s::text[]) AND cards = 0;

-- name: delete_person_events
DELETE FROM person_events n
USING unnest(%(users)s::text[], %(events)s::uuid[]) AS gone(user_id, event_id)
WHERE n.user_id = gone.user_id AND n.event_id = gone.event_id;

-- name: delete_relations
DELETE FROM relations r
USING unnest(%(users)s::text[], %(from_cards)s::uuid[], %(to_cards)s::uuid[], %(predicates)s::text[],
            %(implied)s::boolean[]) AS gone(user_id, from_card, to_card, predicate, implied)
WHERE r.user_id = gone.user_id AND r.from_card = gone.from_card AND r.to_card = gone.to_card
  AND r.predicate = gone.predicate AND r.implied = gone.implied;

-- name: delete_statements
DELETE FROM statements s
USING unnest(%(users)s::text[], %(identities)s::text[], %(events)s::uuid[]) AS gone(user_id, identity, event_id)
WHERE s.user_id = gone.user_id AND s.identity = gone.identity AND s.event_id = gone.event_id;

-- name: delete_ties
DELETE FROM ties t
USING unnest(%(users)s::text[], %(alone)s::uuid[], %(tied)s::uuid[]) AS gone(user_id, alone, tied)
WHERE t.user_id = gone.user_id AND t.alone = gone.alone AND t.tied = gone.tied AND t.mentions = 0;

-- name: delete_updates
DELETE FROM card_update_log u
USING unnest(%(users)s::text[], %(cards)s::uuid[], %(events)s::uuid[]) AS gone(user_id, card_id, event_id)
WHERE u.user_id = gone.user_id AND u.card_id = gone.card_id AND u.event_id = gone.event_id;

-- name: forget_user
-- Deletes every row of a user.
WITH a AS (DELETE FROM cards WHERE user_id = %(user_id)s),
     b AS (DELETE FROM statements WHERE user_id = %(user_id)s),
     c AS (DELETE FROM remarks WHERE user_id = %(user_id)s),
     d AS (DELETE FROM arbitrations WHERE user_id = %(user_id)s),
     e AS (DELETE FROM card_update_log WHERE user_id = %(user_id)s),
     f AS (DELETE FROM tag_aliases WHERE user_id = %(user_id)s),
     g AS (DELETE FROM relations WHERE user_id = %(user_id)s),
     h AS (DELETE FROM card_counts WHERE user_id = %(user_id)s),
     i AS (DELETE FROM ties WHERE user_id = %(user_id)s),
     j AS (DELETE FROM person_events WHERE user_id = %(user_id)s)
DELETE FROM words WHERE user_id = %(user_id)s;
