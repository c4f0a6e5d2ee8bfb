-- For a user with too many vectors to compare them all: the user's signs, side by side.
CREATE INDEX card_vectors_384_own ON card_vectors_384 (user_id, model) INCLUDE (card_id, signs);
-- For a user who owns a large share of all vectors: the signs of all users.
CREATE INDEX card_vectors_384_signs ON card_vectors_384 USING hnsw (signs bit_hamming_ops);
