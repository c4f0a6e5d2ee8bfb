CREATE INDEX proposals_status ON proposals (user_id, status, position);
