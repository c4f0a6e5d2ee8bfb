CREATE INDEX statements_event ON card_statements (user_id, event_id);
