CREATE INDEX relations_to_card ON relations (user_id, to_card);
