SELECT stage, worker, pid, state, detail, error, error_at, done, rate, counts,
       extract(epoch FROM clock_timestamp() - seen_at)::float8 AS seen_s,
       extract(epoch FROM clock_timestamp() - moved_at)::float8 AS moved_s
FROM log.heartbeats ORDER BY stage, worker, pid;
