-- Re-embeddings of the modes that everybody has. A vectors worker does them. They are no part of the log, because they
-- concern no user, and the cards stay as they are.
CREATE TABLE log.reembeddings (
    reembedding_id uuid PRIMARY KEY,
    mode           text COLLATE "C" NOT NULL,
    embedder       text NOT NULL,
    requested_by   text,
    requested_at   timestamptz NOT NULL DEFAULT now(),
    share          real NOT NULL DEFAULT 0,
    cards          bigint NOT NULL DEFAULT 0,
    hindrance      text,
    done_at        timestamptz
);
CREATE UNIQUE INDEX reembeddings_open ON log.reembeddings (mode) WHERE done_at IS NULL;
CREATE INDEX reembeddings_by_mode ON log.reembeddings (mode, requested_at DESC);
