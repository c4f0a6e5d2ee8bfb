SELECT pg_advisory_lock(hashtextextended('cardlog live ' || %(projection)s, 0));
