-- Made after a bulk load, before a generation goes live.
CREATE INDEX state_cards_concept ON state_cards (user_id, project_id, entity, concept_key, effective_at);
CREATE INDEX state_cards_effective ON state_cards (user_id, effective_at);
CREATE INDEX event_cards_occurred ON event_cards (user_id, occurred_at);
CREATE INDEX knowledge_cards_title ON knowledge_cards (user_id, title);
-- Keys are hashed together with their user, so one user's posting lists never meet another's.
CREATE INDEX cards_term_keys ON cards USING gin (term_keys);
CREATE INDEX cards_pair_keys ON cards USING gin (pair_keys);
CREATE INDEX words_gram_keys ON words USING gin (gram_keys);
CREATE INDEX relations_to_card ON relations (user_id, to_card);
