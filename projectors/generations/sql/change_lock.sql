SELECT pg_try_advisory_lock(hashtextextended('cardlog change ' || %(projection)s, 0));
