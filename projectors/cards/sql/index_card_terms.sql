-- Keys are hashed together with their user, so one user's posting lists never meet another's.
CREATE INDEX cards_term_keys ON cards USING gin (term_keys);
