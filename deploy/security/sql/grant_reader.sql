-- Reads the log and the folded tables, one tenant at a time. It changes nothing. It checks API keys, and appends to the
-- audit log.
GRANT SELECT ON log.events, log.parked, sealing.subject_keys, sealing.salts TO {role};
GRANT USAGE ON SCHEMA access, audit TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA access, audit TO {role};
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA audit TO {role};
GRANT EXECUTE ON FUNCTION log.key_of_tokens(text) TO {role};
-- It counts reads of references.
GRANT SELECT, INSERT, UPDATE ON log.reference_use TO {role};
GRANT SELECT ON log.reembeddings TO {role};
GRANT {readers} TO {role};
