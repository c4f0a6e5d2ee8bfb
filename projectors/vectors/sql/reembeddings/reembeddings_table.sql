-- The re-embeddings of modes that users asked for, the last one of each mode. The old vectors answer until done_at.
CREATE TABLE IF NOT EXISTS reembeddings (
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
CREATE INDEX IF NOT EXISTS reembeddings_open ON reembeddings (requested_at) WHERE done_at IS NULL;
