-- The first event of a user between two positions, other than a tombstone.
SELECT position FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND position > %(after)s AND position < %(before)s
  AND type <> 'SubjectErased' AND event_id <> ALL (%(own)s::uuid[])
ORDER BY position LIMIT 1;
