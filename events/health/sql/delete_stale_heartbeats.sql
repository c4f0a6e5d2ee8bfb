-- An earlier process with this worker's name has been replaced once it is silent. Other processes go after an hour.
DELETE FROM log.heartbeats
WHERE stage = %(stage)s AND (worker, pid) <> (%(worker)s, %(pid)s)
  AND seen_at < clock_timestamp() - CASE WHEN worker = %(worker)s THEN make_interval(secs => %(unseen)s)
                                         ELSE interval '1 hour' END;
