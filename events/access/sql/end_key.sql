-- A key that is revoked, or that expires earlier, does not change.
UPDATE access.api_keys
SET expires_at = coalesce(%(expires_at)s::timestamptz, expires_at),
    revoked_at = CASE WHEN %(revoked)s::boolean THEN now() END
WHERE key_id = %(key_id)s AND revoked_at IS NULL
  AND (%(revoked)s::boolean OR expires_at IS NULL OR expires_at > %(expires_at)s::timestamptz);
