-- The counts of a worker since its process started, by name. Counts only grow.
ALTER TABLE log.heartbeats ADD COLUMN counts jsonb NOT NULL DEFAULT '{}';
