CREATE INDEX cards_pair_keys ON cards USING gin (pair_keys);
