-- Reads the log of all tenants and appends what it understood. It reads no folded table and no key.
GRANT EXECUTE ON FUNCTION log.append(json), log.may_see_every_tenant() TO {role};
GRANT SELECT ON log.events, sealing.subject_keys, sealing.salts TO {role};
GRANT INSERT, UPDATE ON log.checkpoints TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};
