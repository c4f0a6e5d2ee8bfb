CREATE INDEX event_cards_occurred ON event_cards (user_id, occurred_at);
-- What was said just before and after: the neighbours that the graph channel looks at.
CREATE INDEX event_cards_session ON event_cards (user_id, session_id, position) WHERE episode;
-- What lasted into a stretch of time that it began before.
CREATE INDEX event_cards_until ON event_cards (user_id, occurred_until) WHERE occurred_until IS NOT NULL;
