-- The events that say what a model cost a user, by time. Without this index, a budget reads the user's whole history.
CREATE INDEX events_usage_of_a_user ON log.events (partition, user_id, recorded_at)
    WHERE type IN ('TurnsExtracted', 'ExtractionFailed', 'CuratorRan');
