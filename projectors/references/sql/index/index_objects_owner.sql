CREATE INDEX objects_owner ON objects (user_id, tier, kind, key) WHERE moved_to IS NULL;
