-- Writers of one reference work one after the other until the transaction ends. The lock is a hash of the stream, so
-- two streams share a lock only after a rare collision.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 5));
