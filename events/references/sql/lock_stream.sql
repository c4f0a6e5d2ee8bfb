-- Writers of one reference work one after the other until the transaction ends. The lock is a hash of the stream, so
-- two streams share a lock only after a rare collision. An erasure of the owner waits for all of them, because a change
-- holds the complete value, and with it what the erasure takes.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(user_id)s, 7)),
       pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 5));
