SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 6));
