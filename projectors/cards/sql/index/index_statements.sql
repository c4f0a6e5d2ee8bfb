-- Finds the identity of a statement, also when its card no longer exists.
CREATE INDEX statements_event ON statements (user_id, event_id);
CREATE INDEX state_cards_caused_by ON state_cards (user_id, caused_by);
CREATE INDEX knowledge_cards_caused_by ON knowledge_cards (user_id, caused_by);
CREATE INDEX arbitrations_open ON arbitrations (user_id, opened_at) WHERE status = 'open';
