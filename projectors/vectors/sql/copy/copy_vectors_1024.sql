COPY {into} (user_id, card_id, model, embedding) FROM STDIN WITH (FORMAT binary);
