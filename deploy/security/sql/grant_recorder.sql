-- Appends turns of all tenants. It reads no event.
GRANT EXECUTE ON FUNCTION log.append(json), log.key_of_tokens(text), log.may_see_every_tenant() TO {role};
GRANT SELECT ON sealing.subject_keys TO {role};
GRANT INSERT, UPDATE, DELETE ON log.heartbeats TO {role};
GRANT EXECUTE ON FUNCTION sealing.append(json, smallint[], integer[], bytea, text[], bytea[], boolean[]) TO {role};
