SELECT pg_advisory_unlock(hashtextextended('cardlog change ' || %(projection)s, 0));
