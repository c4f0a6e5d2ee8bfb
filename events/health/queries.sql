-- name: blocked_vectors
-- The slots whose embedder fails now, with the reason and the number of cards that wait for it.
SELECT b.slot, b.reason, waiting.cards FROM vectors.blocked_slots b
CROSS JOIN LATERAL (
    SELECT count(*) AS cards FROM vectors.pending_vectors p WHERE p.waits_for = b.slot AND p.failure IS NULL
) waiting
WHERE waiting.cards > 0
ORDER BY b.slot;

-- name: heartbeats
SELECT stage, worker, pid, state, detail, error, error_at, done, rate, counts,
       extract(epoch FROM clock_timestamp() - seen_at)::float8 AS seen_s,
       extract(epoch FROM clock_timestamp() - moved_at)::float8 AS moved_s
FROM log.heartbeats ORDER BY stage, worker, pid;

-- name: log_totals
-- A turn that was given up counts until its reextraction. The event of the reextraction has its id in the dedupe key.
SELECT (SELECT sum(position)::bigint FROM log.heads),
       (SELECT count(*) FROM log.events f
        WHERE f.type = 'ExtractionFailed' AND NOT EXISTS (
            SELECT FROM log.events r
            WHERE r.partition = f.partition AND r.user_id = f.user_id
              AND r.dedupe_key >= 'reading/' || f.event_id || '/' AND r.dedupe_key < 'reading/' || f.event_id || '0'));

-- name: pending_vectors
-- Cards of the live generation that wait for their vector, and cards that cannot be embedded.
SELECT count(*) FILTER (WHERE failure IS NULL),
       extract(epoch FROM clock_timestamp() - min(recorded_at) FILTER (WHERE failure IS NULL))::float8,
       count(failure), max(failure)
FROM vectors.pending_vectors;

-- name: pending_vectors_exists
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'vectors' AND c.relname = 'pending_vectors'),
       EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'vectors' AND c.relname = 'blocked_slots');

-- name: reader_lag
-- The lag of every processor of the log: live generations and generations that are being built. Parked events count for
-- their own generation. A generation in the status building is abandoned when no process holds the change lock.
WITH reader AS (
    SELECT c.processor, c.generation, coalesce(g.status, 'live') AS status,
           sum(c.position)::bigint AS position, sum(h.position - c.position)::bigint AS behind,
           min(oldest.recorded_at) AS oldest_at, max(c.moved_at) AS moved_at
    FROM log.checkpoints c
    JOIN log.heads h USING (partition)
    LEFT JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
    -- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sum out of the comparison.
    CROSS JOIN LATERAL (SELECT c.position + 1 AS position OFFSET 0) next
    LEFT JOIN log.events oldest ON oldest.partition = c.partition AND oldest.position = next.position
    WHERE c.generation = 0 OR g.status IN ('live', 'building')
    GROUP BY c.processor, c.generation, g.status
)
SELECT r.processor, r.generation, r.status, r.position, r.behind,
       CASE WHEN r.behind = 0 THEN 0
            ELSE extract(epoch FROM clock_timestamp() - r.oldest_at) END::float8 AS seconds,
       extract(epoch FROM clock_timestamp() - r.moved_at)::float8 AS moved_s,
       (SELECT count(*) FROM log.parked p
        WHERE p.processor = r.processor AND p.generation = r.generation) AS parked,
       last.reason AS parked_reason, last.parked_at,
       EXISTS (SELECT FROM pg_locks l JOIN pg_database d ON d.oid = l.database
               WHERE l.locktype = 'advisory' AND l.granted AND d.datname = current_database() AND l.objsubid = 1
                 AND (l.classid::bigint << 32 | l.objid::bigint)
                     = hashtextextended('cardlog change ' || r.processor, 0)) AS changing
FROM reader r
LEFT JOIN LATERAL (
    SELECT p.reason, p.parked_at FROM log.parked p
    WHERE p.processor = r.processor AND p.generation = r.generation AND p.reason IS NOT NULL
    ORDER BY p.parked_at DESC LIMIT 1
) last ON true
ORDER BY array_position(%(readers)s::text[], r.processor), r.processor, r.generation;

-- name: delete_stale_heartbeats
-- An earlier process with this worker's name has been replaced once it is silent. Other processes go after an hour.
DELETE FROM log.heartbeats
WHERE stage = %(stage)s AND (worker, pid) <> (%(worker)s, %(pid)s)
  AND seen_at < clock_timestamp() - CASE WHEN worker = %(worker)s THEN make_interval(secs => %(unseen)s)
                                         ELSE interval '1 hour' END;

-- name: upsert_heartbeat
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

-- name: probe_timeout
-- Probes must not pile up on a busy server.
SET statement_timeout = '5s';
