SELECT k.key_id, k.digest, k.tenant, k.name, k.scopes, k.users, k.projects, k.modes, k.created_at, k.expires_at,
       k.revoked_at, k.replaces
FROM access.api_keys k
WHERE %(tenant)s::text IS NULL OR k.tenant = %(tenant)s::text
ORDER BY k.created_at, k.key_id;
