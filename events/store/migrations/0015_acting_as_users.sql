-- A key may act as the users: its word then outweighs that of agents. `cardlog log verify` runs every migration once more
-- beside the tables, so an existing constraint of this kind stays.
ALTER TABLE access.api_keys DROP CONSTRAINT IF EXISTS api_keys_scopes_check;
ALTER TABLE access.api_keys ADD CONSTRAINT api_keys_scopes_check
    CHECK (cardinality(scopes) > 0 AND scopes <@ ARRAY['push', 'read', 'write', 'admin', 'user']);
