-- Vectors of the cards, one table a dimension because pgvector wants it in the type. Cards carry no foreign
-- key here: vectors come later than cards, and a dead embedder stops nothing. The signs of the numbers alone take a
-- thirtieth of their room, and tell well enough what is near to be worth comparing.

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
-- A question scans its own user's vectors exactly; inline storage saves a detour to TOAST for each.
ALTER TABLE card_vectors_384 ALTER COLUMN embedding SET STORAGE PLAIN;
