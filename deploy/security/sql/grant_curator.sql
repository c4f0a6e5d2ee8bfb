-- Reads as the reader does, and appends commands, one tenant at a time. It destroys the keys of erased words. The rows
-- that were folded from these words belong to the projector: only a role with both sets of rights erases all of a user.
GRANT EXECUTE ON FUNCTION log.append(json), log.key_of_tokens(text) TO {role};
GRANT SELECT ON log.events, log.parked, sealing.subject_keys, sealing.salts TO {role};
GRANT USAGE ON SCHEMA access, audit TO {role};
GRANT SELECT ON ALL TABLES IN SCHEMA access, audit TO {role};
GRANT EXECUTE ON ALL ROUTINES IN SCHEMA audit TO {role};
GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA erasure TO {role};
GRANT SELECT, DELETE ON log.reference_use TO {role};
GRANT SELECT, INSERT, UPDATE ON log.reembeddings TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]),
    sealing.destroy_subject(text), sealing.destroy_events(text, uuid[]) TO {role};
GRANT {readers} TO {role};
