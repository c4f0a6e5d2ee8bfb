ANALYZE cards, statements, relations, card_counts, words;
