SELECT 1 FROM cards.cards LIMIT 1;
