ANALYZE words, statements, relations, card_counts;
