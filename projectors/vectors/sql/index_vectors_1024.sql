-- For users whose vectors are too many to compare all: the signs alone, a thirtieth of the room of the numbers.
CREATE INDEX card_vectors_1024_signs ON card_vectors_1024 USING hnsw ((binary_quantize(embedding)::bit(1024)) bit_hamming_ops);
