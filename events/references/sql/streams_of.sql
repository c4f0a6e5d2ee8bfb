-- The streams between two names. Each has a first event, so the index of versions finds them.
SELECT stream FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream >= %(first)s AND stream < %(last)s AND version = 1
ORDER BY stream
LIMIT 1000;
