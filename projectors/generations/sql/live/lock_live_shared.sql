-- The lock is shared: many runners fold at once, and a swap waits for all of them. It is an advisory lock and not a
-- row lock, because the queue of an advisory lock is fair. A steady flow of runners therefore cannot starve a swap.
SELECT pg_advisory_xact_lock_shared(hashtextextended('cardlog live ' || %(projection)s, 0));
