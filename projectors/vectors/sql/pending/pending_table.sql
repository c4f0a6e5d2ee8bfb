-- Cards that were folded and have no vector yet, because events arrive faster than the embedder works, or because their
-- embedder fails. The partition and position name the card's event in the log.
CREATE TABLE IF NOT EXISTS pending_vectors (
    user_id     text COLLATE "C" NOT NULL,
    card_id     uuid NOT NULL,
    partition   smallint NOT NULL,
    position    bigint NOT NULL,
    recorded_at timestamptz NOT NULL,
    failure     text, -- why the card cannot be embedded; the card is skipped until a rebuild
    waits_for   text COLLATE "C", -- the slot whose embedder failed when this card was tried
    PRIMARY KEY (user_id, card_id)
);
CREATE INDEX IF NOT EXISTS pending_vectors_newest ON pending_vectors (recorded_at, position) WHERE failure IS NULL;
