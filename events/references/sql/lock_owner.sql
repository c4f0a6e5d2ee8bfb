-- Waits for the writers of an owner's references and document, and stops later ones until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s, 7));
