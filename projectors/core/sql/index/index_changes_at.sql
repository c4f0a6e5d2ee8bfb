CREATE INDEX changes_at ON changes (user_id, at);
