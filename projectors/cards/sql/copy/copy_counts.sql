COPY {into} (user_id, cards, terms) FROM STDIN;
