-- Deletes the parked and the dropped events of a user: some events, or all for NULL. A later event that waits behind an
-- erased one then needs `cardlog parked retry` no more than before.
WITH parked AS (
    DELETE FROM log.parked p WHERE p.user_id = %(user_id)s AND p.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR p.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
), dropped AS (
    DELETE FROM log.dropped d WHERE d.user_id = %(user_id)s AND d.partition = %(partition)s
        AND (%(events)s::uuid[] IS NULL OR d.event_id = ANY (%(events)s::uuid[]))
    RETURNING 1
)
SELECT (SELECT count(*) FROM parked), (SELECT count(*) FROM dropped);
