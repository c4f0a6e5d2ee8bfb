INSERT INTO access.api_keys
    (key_id, digest, tenant, name, scopes, users, projects, modes, expires_at, replaces, revision)
VALUES (%(key_id)s, %(digest)s, %(tenant)s, %(name)s, %(scopes)s, %(users)s, %(projects)s, %(modes)s, %(expires_at)s,
        %(replaces)s, 0)
ON CONFLICT (key_id) DO NOTHING;
