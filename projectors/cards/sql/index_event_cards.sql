CREATE INDEX event_cards_occurred ON event_cards (user_id, occurred_at);
