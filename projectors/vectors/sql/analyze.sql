ANALYZE card_vectors_384, card_vectors_768, card_vectors_1024;
