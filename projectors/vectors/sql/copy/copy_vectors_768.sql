COPY card_vectors_768 (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary);
