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
