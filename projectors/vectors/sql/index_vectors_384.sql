-- For users whose vectors are too many to compare all: the signs alone, a thirtieth of the room of the numbers.
CREATE INDEX card_vectors_384_signs ON card_vectors_384 USING hnsw ((binary_quantize(embedding)::bit(384)) bit_hamming_ops);
