-- What a worker counted since it began, by name: counts only grow, and begin anew with another process.
ALTER TABLE log.heartbeats ADD COLUMN counts jsonb NOT NULL DEFAULT '{}';
