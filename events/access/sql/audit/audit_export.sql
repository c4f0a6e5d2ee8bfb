-- Every entry in the order of the chain.
SELECT position, entry_id, request_id, at, recorded_at, service, tenant, key_id, scopes, operation, method, subjects,
       outcome, status, requests, digest
FROM audit.entries
ORDER BY position;
