-- Lets no erasure of an owner begin until the transaction ends, and waits for a running one. Writers share the lock.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(user_id)s, 7));
