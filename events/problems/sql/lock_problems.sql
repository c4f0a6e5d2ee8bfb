-- Commands about the problems of one user work one after the other until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s, 6));
