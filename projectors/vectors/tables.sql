-- name: tables
-- Vectors of the cards, one table for each dimension, because pgvector has the dimension in the type. There is no
-- foreign key to the cards: vectors arrive later than cards, and a broken embedder stops nothing. The signs of a vector
-- take about a thirtieth of its space. They are exact enough to choose the vectors that are worth an exact comparison.

CREATE TABLE card_vectors_384 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(384) NOT NULL,
    signs bit(384) GENERATED ALWAYS AS (binary_quantize(embedding)::bit(384)) STORED,
    PRIMARY KEY (user_id, card_id)
);
CREATE TABLE card_vectors_768 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(768) NOT NULL,
    signs bit(768) GENERATED ALWAYS AS (binary_quantize(embedding)::bit(768)) STORED,
    PRIMARY KEY (user_id, card_id)
);
CREATE TABLE card_vectors_1024 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(1024) NOT NULL,
    signs bit(1024) GENERATED ALWAYS AS (binary_quantize(embedding)::bit(1024)) STORED,
    PRIMARY KEY (user_id, card_id)
);
-- A question compares all vectors of its user exactly. Inline storage saves one TOAST lookup for each vector.
ALTER TABLE card_vectors_384 ALTER COLUMN embedding SET STORAGE PLAIN;

-- The cache is addressed by content and shared by all generations. The same model never embeds the same text twice.
-- The cache is derived data. Dropping it at any time only costs the time to compute the vectors again.
CREATE SCHEMA IF NOT EXISTS vector_cache;
CREATE TABLE IF NOT EXISTS vector_cache.vectors (
    model        text COLLATE "C" NOT NULL,
    content_hash bytea NOT NULL,
    embedding    vector NOT NULL,
    PRIMARY KEY (model, content_hash)
);

-- The embedder of each slot: '' for all modes without a model of their own, a mode of the settings with its own model, or
-- model=NAME for a model that a user's mode names. All vectors of a slot in this generation are of one embedder. Another
-- embedder begins with another generation.
CREATE TABLE spaces (
    slot        text COLLATE "C" PRIMARY KEY,
    name        text NOT NULL,
    fingerprint text NOT NULL -- the value of the column model in the tables of vectors
);

-- Cards that were folded and have no vector yet, because events arrive faster than the embedder works, or because their
-- embedder fails. The partition and position name the card's event in the log.
CREATE TABLE pending_vectors (
    user_id     text COLLATE "C" NOT NULL,
    card_id     uuid NOT NULL,
    partition   smallint NOT NULL,
    position    bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    failure     text, -- why the card cannot be embedded; the card is skipped until a rebuild
    waits_for   text COLLATE "C", -- the slot whose embedder failed when this card was tried
    PRIMARY KEY (user_id, card_id)
);
CREATE INDEX pending_vectors_newest ON pending_vectors (recorded_at, position) WHERE failure IS NULL;
CREATE INDEX pending_vectors_blocked ON pending_vectors (waits_for) WHERE waits_for IS NOT NULL;
-- The slots whose embedder fails now, with the reason and the remedy.
CREATE TABLE blocked_slots (slot text COLLATE "C" PRIMARY KEY, reason text NOT NULL, since timestamptz NOT NULL);

-- The re-embeddings of modes that users asked for, the last one of each mode. The old vectors answer until done_at.
CREATE TABLE reembeddings (
    user_id      text COLLATE "C" NOT NULL,
    name         text NOT NULL,
    project_id   text NOT NULL, -- '': in all projects
    event_id     uuid NOT NULL,
    partition    smallint NOT NULL,
    position     bigint NOT NULL, -- of the event; cards of later events have the right vectors
    requested_at timestamptz NOT NULL,
    reached      bigint NOT NULL DEFAULT 0, -- the vectors of the cards up to here are computed
    cards        bigint NOT NULL DEFAULT 0, -- so many of them
    done_at      timestamptz,
    PRIMARY KEY (user_id, name, project_id)
);
CREATE INDEX reembeddings_open ON reembeddings (requested_at) WHERE done_at IS NULL;

-- name: index_vectors_384
-- For a user with too many vectors to compare them all: the user's signs, side by side.
CREATE INDEX card_vectors_384_own ON card_vectors_384 (user_id, model) INCLUDE (card_id, signs);
-- For a user who owns a large share of all vectors: the signs of all users.
CREATE INDEX card_vectors_384_signs ON card_vectors_384 USING hnsw (signs bit_hamming_ops);

-- name: index_vectors_768
-- For a user with too many vectors to compare them all: the user's signs, side by side.
CREATE INDEX card_vectors_768_own ON card_vectors_768 (user_id, model) INCLUDE (card_id, signs);
-- For a user who owns a large share of all vectors: the signs of all users.
CREATE INDEX card_vectors_768_signs ON card_vectors_768 USING hnsw (signs bit_hamming_ops);

-- name: index_vectors_1024
-- For a user with too many vectors to compare them all: the user's signs, side by side.
CREATE INDEX card_vectors_1024_own ON card_vectors_1024 (user_id, model) INCLUDE (card_id, signs);
-- For a user who owns a large share of all vectors: the signs of all users.
CREATE INDEX card_vectors_1024_signs ON card_vectors_1024 USING hnsw (signs bit_hamming_ops);

-- name: analyze
ANALYZE card_vectors_384, card_vectors_768, card_vectors_1024;
