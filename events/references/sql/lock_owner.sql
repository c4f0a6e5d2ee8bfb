-- Waits for the writers of all references of an owner, and stops later ones until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s, 7));
