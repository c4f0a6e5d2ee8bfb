-- True when the log has an event of these types between two positions. See live_present for OFFSET 0.
SELECT EXISTS (
    SELECT FROM (
        SELECT user_id, type FROM log.events
        WHERE partition = %(partition)s AND position > %(after)s AND position < %(before)s
        ORDER BY position OFFSET 0
    ) e
    WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
) AS later;
