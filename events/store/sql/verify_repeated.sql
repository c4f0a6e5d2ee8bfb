-- The first event with the id of an earlier event of the partition: somebody appended a genuine event again.
SELECT min(position) FROM (
    SELECT position, lag(event_id) OVER (ORDER BY event_id, position) = event_id AS repeated
    FROM log.events WHERE partition = %(partition)s AND position <= %(head)s
) e WHERE repeated;
