CREATE INDEX state_cards_concept ON state_cards (user_id, project_id, entity, concept_key, effective_at);
CREATE INDEX state_cards_effective ON state_cards (user_id, effective_at);
CREATE INDEX knowledge_cards_title ON knowledge_cards (user_id, title);
