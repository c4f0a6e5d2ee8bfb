-- Shared, so that many runners fold at once while a swap waits for all of them. An advisory lock and not the row's:
-- its queue is fair, and runners that follow each other closely cannot keep a swap waiting for ever.
SELECT pg_advisory_xact_lock_shared(hashtextextended('cardlog live ' || %(projection)s, 0));
