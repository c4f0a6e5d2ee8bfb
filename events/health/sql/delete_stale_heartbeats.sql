-- Whoever had this worker's name before it and fell silent was replaced; the others are forgotten after an hour.
DELETE FROM log.heartbeats
WHERE stage = %(stage)s AND (worker, pid) <> (%(worker)s, %(pid)s)
  AND seen_at < clock_timestamp() - CASE WHEN worker = %(worker)s THEN make_interval(secs => %(unseen)s)
                                         ELSE interval '1 hour' END;
