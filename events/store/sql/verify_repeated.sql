-- The first event whose id an earlier one of the partition has: a genuine event appended again, with its HMAC.
SELECT min(position) FROM (
    SELECT position, lag(event_id) OVER (ORDER BY event_id, position) = event_id AS repeated
    FROM log.events WHERE partition = %(partition)s AND position <= %(head)s
) e WHERE repeated;
