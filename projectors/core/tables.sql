-- name: tables
-- The tables of the core document of one generation. The search path names the schema of the generation.

-- The present document of each user. `marks` has a mark in the place of each value (events/core/state.py).
CREATE TABLE documents (
    user_id    text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    position   bigint NOT NULL,
    document   json NOT NULL,
    marks      json NOT NULL,
    updated_at timestamptz,
    PRIMARY KEY (user_id)
);
ALTER TABLE documents ALTER document SET STATISTICS 0, ALTER marks SET STATISTICS 0;

-- The document at some versions. A version between two snapshots is the earlier one with the changes after it.
CREATE TABLE snapshots (
    user_id    text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    position   bigint NOT NULL,
    document   json NOT NULL,
    marks      json NOT NULL,
    updated_at timestamptz,
    PRIMARY KEY (user_id, version)
);
ALTER TABLE snapshots ALTER document SET STATISTICS 0, ALTER marks SET STATISTICS 0;

-- What each event did to a document. One event makes one version at most.
CREATE TABLE changes (
    user_id    text COLLATE "C" NOT NULL,
    version    bigint NOT NULL,
    event_id   uuid NOT NULL,
    position   bigint NOT NULL,
    kind       text NOT NULL CHECK (kind IN ('patch', 'approval', 'cherry_pick', 'rollback', 'card', 'proposal', 'promotion',
                                             'reversion')),
    ops        json NOT NULL,
    guards     integer[] NOT NULL,
    at         timestamptz NOT NULL,
    recorded_at timestamptz NOT NULL,
    actor      text NOT NULL,
    trust      smallint NOT NULL,
    source     text,
    confidence double precision,
    rationale  text,
    turn_ids   text[] NOT NULL,
    others     uuid[] NOT NULL,
    PRIMARY KEY (user_id, version)
);
ALTER TABLE changes ALTER ops SET STATISTICS 0;

-- Patches that wait for an answer, and the answers. `entry` holds the other members of the entry.
CREATE TABLE queue (
    user_id   text COLLATE "C" NOT NULL,
    queue_id  uuid NOT NULL,
    status    text NOT NULL CHECK (status IN ('open', 'approved', 'refused', 'withdrawn')),
    position  bigint NOT NULL,
    queued_at timestamptz NOT NULL,
    entry     json NOT NULL,
    PRIMARY KEY (user_id, queue_id)
);

-- The statements of state cards that feed the document, by identity, and the remarks on them.
CREATE TABLE card_statements (
    user_id   text COLLATE "C" NOT NULL,
    identity  text COLLATE "C" NOT NULL,
    event_id  uuid NOT NULL,
    partition smallint NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (user_id, identity, event_id)
);

CREATE TABLE card_remarks (
    user_id   text COLLATE "C" NOT NULL,
    target    uuid NOT NULL,
    partition smallint NOT NULL,
    position  bigint NOT NULL,
    PRIMARY KEY (user_id, target, position)
);

-- name: index_changes_recorded
CREATE INDEX changes_recorded ON changes (user_id, recorded_at);

-- name: index_changes_event
CREATE INDEX changes_event ON changes (user_id, event_id);

-- name: index_queue_open
CREATE INDEX queue_open ON queue (user_id, status, position);

-- name: index_statements_event
CREATE INDEX statements_event ON card_statements (user_id, event_id);

-- name: index_statements_position
CREATE INDEX statements_position ON card_statements (user_id, position);

-- name: analyze
ANALYZE documents, snapshots, changes, queue, card_statements, card_remarks;
