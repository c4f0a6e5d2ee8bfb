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
