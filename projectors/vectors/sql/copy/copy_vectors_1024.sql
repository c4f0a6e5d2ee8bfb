COPY card_vectors_1024 (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary);
