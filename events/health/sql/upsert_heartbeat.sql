-- The worker sends ages, and the table keeps instants of this server's clock. Workers' clocks may differ and jump.
INSERT INTO log.heartbeats AS s (stage, worker, pid, state, detail, error, error_at, done, rate, counts, moved_at)
VALUES (%(stage)s, %(worker)s, %(pid)s, %(state)s, %(detail)s, %(error)s,
        CASE WHEN %(error)s::text IS NOT NULL THEN clock_timestamp() - make_interval(secs => %(error_s)s) END,
        %(done)s, %(rate)s, %(counts)s::jsonb, clock_timestamp() - make_interval(secs => %(moved_s)s))
ON CONFLICT (stage, worker, pid) DO UPDATE
SET state = EXCLUDED.state, detail = EXCLUDED.detail, done = EXCLUDED.done, rate = EXCLUDED.rate,
    counts = EXCLUDED.counts,
    error = coalesce(EXCLUDED.error, s.error), error_at = coalesce(EXCLUDED.error_at, s.error_at),
    moved_at = coalesce(EXCLUDED.moved_at, s.moved_at), seen_at = EXCLUDED.seen_at;
