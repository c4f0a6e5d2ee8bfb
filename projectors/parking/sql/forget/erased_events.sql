-- The ids of the events of a user at these positions.
SELECT event_id FROM log.events
WHERE partition = %(partition)s AND position = ANY (%(positions)s::bigint[]) AND user_id = %(user_id)s;
