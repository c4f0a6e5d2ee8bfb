-- The version of a stream. It looks at the end of the index of versions, and opens no payload.
SELECT version FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s
ORDER BY version DESC
LIMIT 1;
