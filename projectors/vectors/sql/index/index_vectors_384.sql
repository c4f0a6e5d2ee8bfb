-- For users whose vectors are too many to compare all: their signs, side by side,
CREATE INDEX card_vectors_384_own ON card_vectors_384 (user_id, model) INCLUDE (card_id, signs);
-- and those of all users, for whoever has a large part of them.
CREATE INDEX card_vectors_384_signs ON card_vectors_384 USING hnsw (signs bit_hamming_ops);
