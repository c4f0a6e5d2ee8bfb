-- For a user with too many vectors to compare them all: the user's signs, side by side.
CREATE INDEX card_vectors_1024_own ON card_vectors_1024 (user_id, model) INCLUDE (card_id, signs);
-- For a user who owns a large share of all vectors: the signs of all users.
CREATE INDEX card_vectors_1024_signs ON card_vectors_1024 USING hnsw (signs bit_hamming_ops);
