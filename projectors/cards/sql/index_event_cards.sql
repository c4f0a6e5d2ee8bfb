CREATE INDEX event_cards_occurred ON event_cards (user_id, occurred_at);
-- What was said just before and after: the neighbours that the graph channel looks at.
CREATE INDEX event_cards_session ON event_cards (user_id, session_id, position) WHERE episode;
