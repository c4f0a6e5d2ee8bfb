SELECT pg_try_advisory_lock(hashtextextended('cardlog reextract', 0));
