COPY words (user_id, word, term_key, gram_keys) FROM STDIN;
