-- The embedder of each slot: '' for all modes without a model of their own, a mode of the settings with its own model, or
-- model=NAME for a model that a user's mode names. All vectors of a slot in this generation are of one embedder. Another
-- embedder begins with another generation.
CREATE TABLE IF NOT EXISTS spaces (
    slot        text COLLATE "C" PRIMARY KEY,
    name        text NOT NULL,
    fingerprint text NOT NULL -- the value of the column model in the tables of vectors
);
