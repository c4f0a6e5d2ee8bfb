SELECT pg_advisory_unlock(hashtextextended('cardlog reembed', 0));
