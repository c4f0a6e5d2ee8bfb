CREATE INDEX problems_active ON problems (user_id, priority) WHERE status = 'active';
