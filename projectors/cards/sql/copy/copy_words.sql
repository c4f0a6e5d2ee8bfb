COPY {into} (user_id, word, term_key, gram_keys) FROM STDIN;
