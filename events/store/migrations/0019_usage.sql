-- The events that say what a model cost, by time. Without this index, a sum over a month reads the whole log.
CREATE INDEX events_usage ON log.events (recorded_at)
    WHERE type IN ('TurnsExtracted', 'ExtractionFailed', 'CuratorRan');
