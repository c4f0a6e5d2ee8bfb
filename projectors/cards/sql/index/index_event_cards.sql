CREATE INDEX event_cards_occurred ON event_cards (user_id, occurred_at);
-- The graph channel reads the episodes just before and after a card.
CREATE INDEX event_cards_session ON event_cards (user_id, session_id, position) WHERE episode;
-- Finds events that began before a time window and last into it.
CREATE INDEX event_cards_until ON event_cards (user_id, occurred_until) WHERE occurred_until IS NOT NULL;
