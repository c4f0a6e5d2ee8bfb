INSERT INTO log.stages AS s (stage, worker, state, detail) VALUES (%(stage)s, %(worker)s, %(state)s, %(detail)s)
ON CONFLICT (stage, worker) DO UPDATE
SET state = EXCLUDED.state, detail = EXCLUDED.detail, seen_at = EXCLUDED.seen_at,
    changed_at = CASE WHEN (s.state, s.detail) IS DISTINCT FROM (EXCLUDED.state, EXCLUDED.detail)
                      THEN EXCLUDED.changed_at ELSE s.changed_at END;
