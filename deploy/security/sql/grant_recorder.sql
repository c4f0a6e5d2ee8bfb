-- Appends turns of all tenants. It reads no event.
GRANT EXECUTE ON FUNCTION log.append(json), log.may_see_every_tenant() TO {role};
GRANT SELECT ON log.token_key, sealing.subject_keys TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};
