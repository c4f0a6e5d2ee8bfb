SELECT pg_advisory_unlock(hashtextextended('cardlog live ' || %(projection)s, 0));
