-- For users whose vectors are too many to compare all: their signs, side by side,
CREATE INDEX card_vectors_1024_own ON card_vectors_1024 (user_id, model) INCLUDE (card_id, signs);
-- and those of all users, for whoever has a large part of them.
CREATE INDEX card_vectors_1024_signs ON card_vectors_1024 USING hnsw (signs bit_hamming_ops);
