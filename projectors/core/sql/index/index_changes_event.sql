CREATE INDEX changes_event ON changes (user_id, event_id);
