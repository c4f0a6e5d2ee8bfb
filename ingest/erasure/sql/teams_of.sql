-- The teams with a stream of a member. Every partition is named, so that the index of the streams answers.
SELECT DISTINCT user_id FROM log.events
WHERE partition = ANY (ARRAY(SELECT generate_series(0, 63))::smallint[])
  AND user_id >= %(first)s AND user_id < %(last)s AND stream = %(stream)s
ORDER BY user_id;
