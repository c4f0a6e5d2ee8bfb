-- name: tables
-- The card tables of one generation. The search path names the schema of the generation.

CREATE TABLE cards (
    user_id        text COLLATE "C" NOT NULL,
    kind           text COLLATE "C" NOT NULL,
    card_id        uuid NOT NULL,
    project_id     text COLLATE "C" NOT NULL,
    context_layer  text,
    created_at     timestamptz NOT NULL,
    occurred_at    timestamptz,
    occurred_until timestamptz,
    effective_at   timestamptz,
    superseded_at  timestamptz,
    last_verified  timestamptz NOT NULL,
    said_at        timestamptz NOT NULL, -- of the first statement; the episode occurred at this instant
    session_id     text COLLATE "C" NOT NULL,
    agent_id       text,
    document_id    text,
    speaker        text,
    turn_ids       text[] NOT NULL,
    source_span    json,
    metadata       json,                 -- of the turn, as the app gave it
    caused_by      uuid,                 -- the TurnsExtracted event; the episode of the turn shares it
    concept_key    text COLLATE "C",
    entity         text,
    value          text,
    cardinality    text CHECK (cardinality IN ('single_value', 'multi_value')),
    tags           text[] NOT NULL,
    confidence     real NOT NULL,
    weight         real NOT NULL,
    provenance     text NOT NULL CHECK (provenance IN ('user_stated', 'assistant_stated', 'agent_inferred')),
    content        text NOT NULL,
    -- the clock and the grain in which the times are told, and the other reading of an ambiguous time
    time_zone      text,
    time_grain     text,
    time_resolved  boolean,
    alternative_at timestamptz,
    -- a value that is a time
    value_at       timestamptz,
    value_until    timestamptz,
    value_grain    text,
    mentions       integer NOT NULL,
    retracted      boolean NOT NULL,     -- a mistake; it was never true
    contested      boolean NOT NULL,     -- contradicts a value in force and is not accepted; never current
    ended          boolean NOT NULL,     -- says that a value ended; true at no instant
    -- event cards
    episode        boolean,
    topics         text[],
    importance     smallint CHECK (importance BETWEEN 1 AND 10),
    sentiment      text,
    event_status   text CHECK (event_status IN ('happened', 'planned', 'wished', 'cancelled', 'corrected')),
    stated_status  text CHECK (stated_status IN ('happened', 'planned', 'wished', 'cancelled', 'corrected')), -- by its own words
    participants   text[],
    -- knowledge cards
    title          text,
    aliases        text[],
    definition     text,
    pinned         boolean NOT NULL,     -- in every prompt
    name_keys      text[],               -- the normalised names of the concept
    related_keys   text[],               -- the normalised titles of related concepts
    -- the position in the log, the mode, and the search keys
    position       bigint NOT NULL,
    mode           text,
    term_keys      integer[] NOT NULL, -- of the card's own terms, then of the turns before it
    own_terms      integer NOT NULL,  -- the number of the card's own terms
    pair_keys      integer[] NOT NULL,
    -- The kind is in the key, so that the cards of a user are counted by kind without reading them.
    PRIMARY KEY (user_id, card_id) INCLUDE (kind),
    CHECK (CASE kind
        WHEN 'state' THEN concept_key IS NOT NULL AND entity IS NOT NULL AND value IS NOT NULL AND cardinality IS NOT NULL
                          AND effective_at IS NOT NULL
        WHEN 'event' THEN occurred_at IS NOT NULL AND episode IS NOT NULL AND topics IS NOT NULL AND importance IS NOT NULL
                          AND event_status IS NOT NULL AND stated_status IS NOT NULL
        WHEN 'knowledge' THEN title IS NOT NULL AND aliases IS NOT NULL AND definition IS NOT NULL
                              AND name_keys IS NOT NULL AND related_keys IS NOT NULL
        WHEN 'reference' THEN title IS NOT NULL AND effective_at IS NOT NULL
        ELSE false END)
);

-- The planner needs no statistics of the most common words. Without these columns, ANALYZE takes far less time.
ALTER TABLE cards
    ALTER turn_ids SET STATISTICS 0, ALTER source_span SET STATISTICS 0, ALTER metadata SET STATISTICS 0,
    ALTER tags SET STATISTICS 0,
    ALTER content SET STATISTICS 0, ALTER topics SET STATISTICS 0, ALTER aliases SET STATISTICS 0,
    ALTER definition SET STATISTICS 0, ALTER value SET STATISTICS 0, ALTER term_keys SET STATISTICS 0,
    ALTER pair_keys SET STATISTICS 0;

-- All statements of each identity. The cards of an identity are a pure function of its statements and remarks.
-- The events themselves are in the log, at (partition, position).
CREATE TABLE statements (
    user_id     text COLLATE "C" NOT NULL,
    identity    text COLLATE "C" NOT NULL,
    event_id    uuid NOT NULL,
    partition   smallint NOT NULL,
    position    bigint NOT NULL,
    person      uuid,           -- the id of the handle of the subject; NULL for the user and for knowledge
    PRIMARY KEY (user_id, identity, event_id)
);

-- The names to which cards give a tie, as ids of people: the name alone, the name with its tie, and the name with the tie
-- without its age.
CREATE TABLE ties (
    user_id  text COLLATE "C" NOT NULL,
    alone    uuid NOT NULL,
    tied     uuid NOT NULL,
    kin      uuid NOT NULL,
    mentions bigint NOT NULL,
    PRIMARY KEY (user_id, alone, tied)
);

-- The events about people. Each has two rows, one for each of the two people whom the event relates.
CREATE TABLE person_events (
    user_id   text COLLATE "C" NOT NULL,
    one       uuid NOT NULL,
    event_id  uuid NOT NULL,
    partition smallint NOT NULL,
    position  bigint NOT NULL,
    other     uuid NOT NULL,
    PRIMARY KEY (user_id, one, event_id)
);

-- Remarks on a statement or an event, such as verifications and verdicts. `target` is the event of the statement, also
-- when the statement is now part of another card.
CREATE TABLE remarks (
    user_id   text COLLATE "C" NOT NULL,
    target    uuid NOT NULL,
    event_id  uuid NOT NULL,
    partition smallint NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (user_id, target, event_id)
);

-- Conflicts, open or settled. While a conflict is open, the old card stays current and the new card is contested. The id
-- is the event id of the contested statement. A verdict settles the conflict. The status is 'withdrawn' when a later
-- statement settles the conflict.
CREATE TABLE arbitrations (
    user_id        text COLLATE "C" NOT NULL,
    arbitration_id uuid NOT NULL,
    project_id     text COLLATE "C" NOT NULL,
    entity         text NOT NULL,
    concept_key    text COLLATE "C" NOT NULL,
    old_card       uuid NOT NULL,
    new_card       uuid NOT NULL,
    old_value      text NOT NULL,
    new_value      text NOT NULL,
    reason         text NOT NULL,
    evidence       json NOT NULL,        -- {"old": {"turn_ids", "said_at", "quote"}, "new": {…}}
    status         text NOT NULL CHECK (status IN ('open', 'keep_old', 'accept_new', 'coexist', 'withdrawn')),
    said_at        timestamptz NOT NULL, -- of the new value
    opened_at      timestamptz NOT NULL, -- when the log had both sides
    settled_at     timestamptz,          -- when the log had what settled it
    position       bigint NOT NULL,
    PRIMARY KEY (user_id, arbitration_id),
    CHECK ((status = 'open') = (settled_at IS NULL))
);

-- The content of a card before a statement overwrote it in place: one of several values, or a definition.
CREATE TABLE card_update_log (
    user_id     text COLLATE "C" NOT NULL,
    card_id     uuid NOT NULL,
    changed_at  timestamptz NOT NULL,
    old_value   text NOT NULL,
    new_value   text NOT NULL,
    old_content text NOT NULL,
    reason      text NOT NULL,
    event_id    uuid NOT NULL,           -- the statement that overwrote it
    PRIMARY KEY (user_id, card_id, event_id)
);

-- Tags that mean another tag, both normalised. Cards keep their tags. A search for one tag also finds the other.
CREATE TABLE tag_aliases (
    user_id    text COLLATE "C" NOT NULL,
    alias      text COLLATE "C" NOT NULL,
    tag        text COLLATE "C" NOT NULL,
    changed_at timestamptz NOT NULL,
    event_id   uuid NOT NULL,
    PRIMARY KEY (user_id, alias)
);

CREATE TABLE relations (
    user_id    text COLLATE "C" NOT NULL,
    from_card  uuid NOT NULL,
    to_card    uuid NOT NULL,
    predicate  text COLLATE "C" NOT NULL CHECK (predicate IN (
        'update', 'state_change', 'expands', 'qualifies', 'contradicts', 'retracts', 'same_as',
        'parent_of', 'related_to', 'affects_state')),
    reason     text NOT NULL,
    confidence real NOT NULL,
    event_id   uuid NOT NULL,
    created_at timestamptz NOT NULL,
    -- True when a timeline implies the edge, false when an actor stated it. No source withdraws edges of the other.
    implied    boolean NOT NULL,
    actor      text NOT NULL,
    -- True when the edge would close a cycle. Such an edge is kept for the record and never followed.
    refused    boolean NOT NULL,
    PRIMARY KEY (user_id, from_card, to_card, predicate, implied),
    CHECK (from_card <> to_card OR refused)
);

-- The number of cards of a user and the sum of their terms. BM25 needs both.
CREATE TABLE card_counts (
    user_id text COLLATE "C" NOT NULL,
    cards   bigint NOT NULL,
    terms   bigint NOT NULL,
    PRIMARY KEY (user_id)
);

-- The Latin words of a user's cards with their trigrams. The fuzzy channel looks up misspelt words here.
CREATE TABLE words (
    user_id   text COLLATE "C" NOT NULL,
    word      text COLLATE "C" NOT NULL,
    term_key  integer NOT NULL,
    gram_keys integer[] NOT NULL,
    PRIMARY KEY (user_id, word)
);
ALTER TABLE words ALTER gram_keys SET STATISTICS 0;

-- name: tables_views
-- The targets that a command may name, with their kind and, for a relation, the card it leads to. A card and a
-- statement have the position of their event. A card and an arbitration have their project and their modes: those of both
-- cards for an arbitration. The write API reads nothing else of this schema, so a change of the tables above does not
-- affect the write API.
CREATE VIEW command_targets AS
SELECT user_id, 'card' AS target, card_id AS id, kind COLLATE "C" AS detail, NULL::uuid AS leads_to, project_id,
       ARRAY[mode] AS modes, position, NULL::uuid AS made_by
FROM cards
UNION ALL
SELECT user_id, 'statement', event_id, split_part(identity, E'\x1f', 1) COLLATE "C", NULL, NULL, NULL, position, NULL
FROM statements
UNION ALL
SELECT user_id, 'arbitration', arbitration_id, status COLLATE "C", NULL, project_id, ARRAY(
    SELECT c.mode FROM cards c
    WHERE c.user_id = a.user_id AND c.kind = 'state' AND c.card_id IN (a.old_card, a.new_card)), NULL, NULL
FROM arbitrations a
UNION ALL
SELECT user_id, 'relation', from_card, predicate, to_card, NULL, NULL, NULL, CASE WHEN NOT implied THEN event_id END
FROM relations WHERE NOT refused;

-- The concepts that a command may name.
CREATE VIEW concepts AS
SELECT user_id, card_id, project_id, mode, title, aliases, definition, name_keys, position
FROM cards WHERE kind = 'knowledge' AND NOT retracted;

-- What a proposal to retract reads: current states and episodes with the words that may mean them. Like the view above, it
-- keeps the write side apart from the tables.
CREATE VIEW retractable_cards AS
SELECT user_id, kind, card_id, content, concept_key, value, cardinality, project_id, turn_ids, position, episode,
       retracted OR contested OR ended AS gone, retracted, effective_at, superseded_at, last_verified, term_keys, own_terms
FROM cards;
-- The events that state the same fact as a card.
CREATE VIEW retractable_statements AS
SELECT own.user_id, own.event_id AS card_id, s.partition, s.position, s.event_id
FROM statements own JOIN statements s ON s.user_id = own.user_id AND s.identity = own.identity;

-- What the curator reads: the cards, and the relations that hold. Like the views above, they keep the write side apart.
CREATE VIEW remembered_cards AS
SELECT user_id, card_id, kind, content, position, said_at, last_verified, project_id, session_id, turn_ids, provenance,
       confidence, tags, entity, concept_key, value, cardinality, effective_at, superseded_at, occurred_at, occurred_until,
       time_resolved, mode, speaker, caused_by, mentions, retracted, contested, ended, coalesce(episode, false) AS episode,
       coalesce(topics, '{}') AS topics, importance, sentiment, event_status, coalesce(participants, '{}') AS participants,
       title, definition
FROM cards WHERE kind <> 'reference';
CREATE VIEW remembered_relations AS
SELECT user_id, from_card, to_card, predicate, event_id, actor, implied FROM relations WHERE NOT refused;

-- name: index_card_terms
-- A small memory is faster, because it fits the cache of the processor. Rows and keys are grouped by user, so posting
-- lists are complete early. All three GIN indexes for 1M events on 2 cores take 9.1 s with 16 MB and 13.3 s with 256 MB.
-- The three indexes are built at the same time. Parallel workers would compete for the same cores (15.3 s).
SET LOCAL maintenance_work_mem = '16MB';
SET LOCAL max_parallel_maintenance_workers = 0;
-- A key is a hash of term and user, so users do not share posting lists.
CREATE INDEX cards_term_keys ON cards USING gin (term_keys) WITH (gin_pending_list_limit = 64);

-- name: index_words
-- See index_card_terms.
SET LOCAL maintenance_work_mem = '16MB';
SET LOCAL max_parallel_maintenance_workers = 0;
CREATE INDEX words_gram_keys ON words USING gin (gram_keys) WITH (gin_pending_list_limit = 64);

-- name: index_card_pairs
-- See index_card_terms.
SET LOCAL maintenance_work_mem = '16MB';
SET LOCAL max_parallel_maintenance_workers = 0;
CREATE INDEX cards_pair_keys ON cards USING gin (pair_keys) WITH (gin_pending_list_limit = 64);

-- name: index_event_cards
-- A statement uses an index of one kind only if it names the kind in its text. A generic plan knows no parameters.
CREATE INDEX cards_occurred ON cards (user_id, occurred_at) WHERE kind = 'event';
-- The graph channel reads the episodes just before and after a card.
CREATE INDEX cards_session ON cards (user_id, session_id, position) WHERE episode;
-- Finds events that began before a time window and last into it.
CREATE INDEX cards_until ON cards (user_id, occurred_until) WHERE kind = 'event' AND occurred_until IS NOT NULL;

-- name: index_state_cards
CREATE INDEX cards_concept ON cards (user_id, project_id, entity, concept_key, effective_at) WHERE kind = 'state';
-- The graph channel reads the present states of an entity. Without this index it would read all states of the user.
CREATE INDEX cards_entity ON cards (user_id, project_id, entity, effective_at) WHERE kind = 'state' AND superseded_at IS NULL;
CREATE INDEX cards_effective ON cards (user_id, effective_at) WHERE kind = 'state';
CREATE INDEX cards_caused_by ON cards (user_id, caused_by) WHERE kind = 'state';
-- Few cards are retracted. The turns that hold their words say so.
CREATE INDEX cards_retracted ON cards (user_id) WHERE retracted;
CREATE INDEX cards_pinned ON cards (user_id) WHERE kind = 'knowledge' AND pinned;
-- Most cards are events. The cards of another kind are read without them, in the order of pages.
CREATE INDEX cards_kinds ON cards (user_id, kind, card_id) WHERE kind <> 'event';

-- name: index_relations
CREATE INDEX relations_to_card ON relations (user_id, to_card);

-- name: index_statements
-- Finds the identity of a statement, also when its card no longer exists.
CREATE INDEX statements_event ON statements (user_id, event_id);
CREATE INDEX statements_person ON statements (user_id, person) WHERE person IS NOT NULL;
CREATE INDEX ties_tied ON ties (user_id, tied);
CREATE INDEX person_events_event ON person_events (user_id, event_id);
CREATE INDEX arbitrations_open ON arbitrations (user_id, said_at) WHERE status = 'open';

-- name: index_modes
-- The cards of a mode that few cards have. A card without a mode is of the general mode, which needs no index.
CREATE INDEX cards_modes ON cards (user_id, mode) WHERE mode IS NOT NULL;

-- name: analyze_cards
ANALYZE cards;

-- name: analyze_others
ANALYZE words, statements, relations, card_counts, ties, person_events;
