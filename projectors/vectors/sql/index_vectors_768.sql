-- For users whose vectors are too many to compare all: the signs alone, a thirtieth of the room of the numbers.
CREATE INDEX card_vectors_768_signs ON card_vectors_768 USING hnsw ((binary_quantize(embedding)::bit(768)) bit_hamming_ops);
