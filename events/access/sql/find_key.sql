-- The secret of this database, and the key if it exists.
SELECT s.secret, k.key_id, k.digest, k.tenant, k.name, k.scopes, k.users, k.projects, k.modes, k.created_at,
       k.expires_at, k.revoked_at, k.replaces
FROM access.secret s LEFT JOIN access.api_keys k ON k.key_id = %(key_id)s;
