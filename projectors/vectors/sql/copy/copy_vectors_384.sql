COPY card_vectors_384 (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary);
