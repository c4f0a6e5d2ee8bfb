ANALYZE cards;
