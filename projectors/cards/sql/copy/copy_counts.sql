COPY card_counts (user_id, cards, terms) FROM STDIN;
