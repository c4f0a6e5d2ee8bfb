-- name: freshness
-- The progress of every waiting read, in one statement. Only the checkpoint of a live generation counts.
SELECT e.position AS turn,
       x.position AS extracted,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'cards' AND c.partition = w.partition) AS cards,
       (SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'vectors' AND c.partition = w.partition) AS vectors,
       h.position AS head,
       -- True when a vectors worker runs and does not report that it falls behind.
       EXISTS (SELECT FROM log.heartbeats s
               WHERE s.stage = 'vectors' AND s.state = 'running'
                 AND s.seen_at > clock_timestamp() - make_interval(secs => %(unseen_s)s)
                 AND coalesce(s.detail, '') NOT LIKE %(falling)s) AS keeps_up
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(keys)s::text[])
    WITH ORDINALITY AS w(partition, user_id, key, number)
JOIN log.heads h ON h.partition = w.partition
LEFT JOIN log.events e ON e.partition = w.partition AND e.user_id = w.user_id AND e.dedupe_key = w.key
    AND e.dedupe_key IS NOT NULL
LEFT JOIN log.checkpoints x ON x.processor = 'extractor' AND x.generation = 0 AND x.partition = w.partition
ORDER BY w.number;

-- name: replay_position
-- Shows if this server is a replica, and the position up to which it has replayed the primary's log.
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint;

-- name: wal_end
-- The end of the flushed write-ahead log. It contains every durable commit, and replicas can have it now.
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint;

-- name: without_vector
-- For each waiting read: true when cards of the token's events wait for their vector, and true when earlier cards of
-- the user do.
SELECT EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position BETWEEN w.since AND w.target) AS theirs,
       EXISTS (SELECT FROM vectors.pending_vectors p
               WHERE p.user_id = w.user_id AND p.failure IS NULL AND p.position < w.since) AS earlier
FROM unnest(%(users)s::text[], %(sinces)s::bigint[], %(targets)s::bigint[])
    WITH ORDINALITY AS w(user_id, since, target, number)
ORDER BY w.number;
