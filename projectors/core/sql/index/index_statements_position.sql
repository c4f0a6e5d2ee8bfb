CREATE INDEX statements_position ON card_statements (user_id, position);
