-- Cards that were folded and have no vector yet: the embedder is slower than they come. The event is found in the log.
CREATE TABLE IF NOT EXISTS pending_vectors (
    user_id     text COLLATE "C" NOT NULL,
    card_id     uuid NOT NULL,
    partition   smallint NOT NULL,
    position    bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    failure     text, -- why this one cannot be embedded; it is left out until it is rebuilt
    PRIMARY KEY (user_id, card_id)
);
CREATE INDEX IF NOT EXISTS pending_vectors_newest ON pending_vectors (recorded_at, position) WHERE failure IS NULL;
