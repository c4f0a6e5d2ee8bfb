-- name: changed_keys
-- The number of changes, and the keys that changed after the change `seen`.
SELECT r.number, ARRAY(SELECT k.key_id FROM access.api_keys k WHERE k.revision > %(seen)s::bigint)
FROM access.revision r;

-- name: find_key
-- The secret of this database, and the key if it exists.
SELECT s.secret, k.key_id, k.digest, k.tenant, k.name, k.scopes, k.users, k.projects, k.modes, k.created_at,
       k.expires_at, k.revoked_at, k.replaces
FROM access.secret s LEFT JOIN access.api_keys k ON k.key_id = %(key_id)s;

-- name: list_keys
SELECT k.key_id, k.digest, k.tenant, k.name, k.scopes, k.users, k.projects, k.modes, k.created_at, k.expires_at,
       k.revoked_at, k.replaces
FROM access.api_keys k
WHERE %(tenant)s::text IS NULL OR k.tenant = %(tenant)s::text
ORDER BY k.created_at, k.key_id;

-- name: audit_digest_at
SELECT digest FROM audit.entries WHERE position = %(position)s;

-- name: audit_exists
SELECT to_regclass('audit.entries') IS NOT NULL;

-- name: audit_export
-- Every entry in the order of the chain.
SELECT position, entry_id, request_id, at, recorded_at, service, tenant, key_id, scopes, operation, method, subjects,
       outcome, status, requests, digest
FROM audit.entries
ORDER BY position;

-- name: audit_head
SELECT position, digest FROM audit.head;

-- name: audit_behind_head
-- Both values come from one snapshot, because an append moves the head together with its rows.
SELECT h.position, (SELECT max(e.position) FROM audit.entries e) FROM audit.head h;

-- name: audit_page
-- One page of the audit log, the newest entry first. NULL leaves a filter out. `within`: every subject of the entry is
-- among these, and it has one.
SELECT position, entry_id, request_id, at, recorded_at, service, tenant, key_id, scopes, operation, method, subjects,
       outcome, status, requests, digest
FROM audit.entries
WHERE (%(before)s::bigint IS NULL OR position < %(before)s::bigint)
  AND (%(tenant)s::text IS NULL OR tenant = %(tenant)s::text)
  AND (%(subject)s::text IS NULL OR subjects @> ARRAY[%(subject)s::text])
  AND (%(within)s::text[] IS NULL OR subjects <> '{}' AND subjects <@ %(within)s::text[])
  AND (%(key_id)s::text IS NULL OR key_id = %(key_id)s::text)
  AND (%(operation)s::text IS NULL OR operation = %(operation)s::text)
  AND (%(outcome)s::text IS NULL OR outcome = %(outcome)s::text)
  AND (%(since)s::timestamptz IS NULL OR recorded_at >= %(since)s::timestamptz)
  AND (%(until)s::timestamptz IS NULL OR recorded_at < %(until)s::timestamptz)
ORDER BY position DESC
LIMIT %(limit)s::bigint;

-- name: subject_key
SELECT key FROM audit.subject_key;

-- name: audit_verify_slice
-- Compares the digests of the next entries with the digests computed from the entry before.
WITH slice AS MATERIALIZED (
    SELECT e AS entry, e.position, e.digest FROM audit.entries e
    WHERE e.position > %(after)s AND e.position <= %(head)s
    ORDER BY e.position
    LIMIT %(limit)s
), chained AS (
    SELECT position, digest, %(after)s + row_number() OVER (ORDER BY position) AS expected,
           sha256(lag(digest, 1, %(digest)s::bytea) OVER (ORDER BY position) || sha256(audit.canonical(entry)))
               AS recomputed
    FROM slice
)
SELECT count(*), min(expected) FILTER (WHERE position <> expected),
       min(expected) FILTER (WHERE digest IS DISTINCT FROM recomputed),
       (SELECT digest FROM chained ORDER BY position DESC LIMIT 1)
FROM chained;

-- name: add_key
INSERT INTO access.api_keys
    (key_id, digest, tenant, name, scopes, users, projects, modes, expires_at, replaces, revision)
VALUES (%(key_id)s, %(digest)s, %(tenant)s, %(name)s, %(scopes)s, %(users)s, %(projects)s, %(modes)s, %(expires_at)s,
        %(replaces)s, 0)
ON CONFLICT (key_id) DO NOTHING;

-- name: end_key
-- A key that is revoked, or that expires earlier, does not change.
UPDATE access.api_keys
SET expires_at = coalesce(%(expires_at)s::timestamptz, expires_at),
    revoked_at = CASE WHEN %(revoked)s::boolean THEN now() END
WHERE key_id = %(key_id)s AND revoked_at IS NULL
  AND (%(revoked)s::boolean OR expires_at IS NULL OR expires_at > %(expires_at)s::timestamptz);

-- name: append_audit
SELECT audit.append(%(batch)s::json);

-- name: listen_keys
LISTEN cardlog_keys;

-- name: add_link
-- Old links go when a new one comes.
WITH old AS (DELETE FROM access.sign_in_links WHERE expires_at < now())
INSERT INTO access.sign_in_links (digest, key_id, expires_at)
VALUES (%(digest)s, %(key_id)s, %(expires_at)s);

-- name: use_link
SELECT access.use_link(%(digest)s) AS key_id;
