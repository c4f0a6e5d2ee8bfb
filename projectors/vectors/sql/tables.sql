-- Vectors of the cards, one table a dimension because pgvector wants it in the type. Cards carry no foreign
-- key here: vectors come later than cards, and a dead embedder stops nothing.

CREATE TABLE card_vectors_384 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(384) NOT NULL,
    PRIMARY KEY (user_id, card_id)
);
CREATE TABLE card_vectors_768 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(768) NOT NULL,
    PRIMARY KEY (user_id, card_id)
);
CREATE TABLE card_vectors_1024 (
    user_id text COLLATE "C" NOT NULL, card_id uuid NOT NULL, model text NOT NULL, embedding vector(1024) NOT NULL,
    PRIMARY KEY (user_id, card_id)
);
-- A question scans its own user's vectors exactly; inline storage saves a detour to TOAST for each.
ALTER TABLE card_vectors_384 ALTER COLUMN embedding SET STORAGE PLAIN;
