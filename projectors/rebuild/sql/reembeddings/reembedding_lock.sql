SELECT pg_try_advisory_lock(hashtextextended('cardlog reembed', 0));
