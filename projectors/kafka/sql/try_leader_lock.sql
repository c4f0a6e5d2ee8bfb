-- The lock lasts until the session ends.
SELECT pg_try_advisory_lock(hashtextextended('cardlog relay', 0));
