-- Held for as long as this session lives.
SELECT pg_try_advisory_lock(hashtextextended('cardlog relay', 0));
