CREATE INDEX queue_open ON queue (user_id, status, position);
