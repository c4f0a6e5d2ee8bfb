-- name: rename_tables
SELECT log.rename_tables(%(old)s, %(new)s);

-- name: dropped
-- Events that an operator dropped for this projection.
SELECT partition, position FROM log.dropped WHERE processor = %(projection)s;

-- name: first_hole
SELECT coalesce(min(expected) FILTER (WHERE position <> expected), count(*) + 1)
FROM (SELECT position, row_number() OVER (ORDER BY position) AS expected
      FROM log.events WHERE partition = %(partition)s AND position <= %(head)s) numbered;

-- name: first_of_type
SELECT e.position, e.event_id FROM log.events e
WHERE e.partition = %(partition)s AND e.position <= %(head)s AND e.type = %(type)s AND e.schema_version = %(version)s
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(projection)s AND d.partition = e.partition AND d.position = e.position)
ORDER BY e.position LIMIT 1;

-- name: partition_types
-- The number of events of each type. Positions are unique, so a sum below the head means a hole.
SELECT type, schema_version, count(*) FROM log.events
WHERE partition = %(partition)s AND position <= %(head)s
GROUP BY type, schema_version ORDER BY type, schema_version;

-- name: read_users
-- The events of a partition, user by user. The fold forgets a user after the user's last event, so one user bounds
-- the memory.
SELECT e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key, e.occurred_at,
       e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       {readable e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position <= %(head)s AND e.type = ANY (%(types)s::text[])
  AND NOT EXISTS (SELECT FROM log.dropped d
                  WHERE d.processor = %(projection)s AND d.partition = e.partition AND d.position = e.position)
ORDER BY e.user_id, e.position;

-- name: vectors_by_model
SELECT model, count(*) FROM (
    SELECT model FROM vectors.card_vectors_384 UNION ALL SELECT model FROM vectors.card_vectors_768
    UNION ALL SELECT model FROM vectors.card_vectors_1024
) AS held GROUP BY model ORDER BY model;

-- name: make_live
UPDATE log.generations SET status = 'live', live_at = clock_timestamp()
WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: retire_live
UPDATE log.generations SET status = 'retired' WHERE projection = %(projection)s AND status = 'live'
RETURNING generation;

-- name: bulk_settings
-- Settings for the sessions of a rebuild. Their commits matter only after the swap. The commit of the swap is
-- synchronous, and it flushes the earlier commits too. Sorts and index builds get more memory than a request.
SET synchronous_commit = off;
SET work_mem = '64MB';
SET maintenance_work_mem = '256MB';
SET cursor_tuple_fraction = 1;
-- Compressing the pages of new indexes takes a fifth of their build time. Only a superuser may switch it off.
SELECT set_config('wal_compression', 'off', false)
WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);

-- name: operations_lock
SELECT pg_try_advisory_lock(hashtextextended('cardlog ' || %(name)s, 0));

-- name: operations_unlock
SELECT pg_advisory_unlock(hashtextextended('cardlog ' || %(name)s, 0));

-- name: open_operations
-- What operators asked of these projections and is not done, the oldest first.
SELECT operation_id, user_id, action, projection, generation, event_id, verify, because, attempts
FROM log.operations
WHERE done_at IS NULL AND projection = ANY (%(projections)s::text[]) AND action = ANY (%(actions)s::text[])
ORDER BY requested_at, operation_id LIMIT 100;

-- name: begin_operation
UPDATE log.operations SET attempts = attempts + 1
WHERE user_id = %(user_id)s AND operation_id = %(operation_id)s AND done_at IS NULL;

-- name: move_operation
UPDATE log.operations SET stage = %(stage)s, share = %(share)s
WHERE user_id = %(user_id)s AND operation_id = %(operation_id)s AND done_at IS NULL;

-- name: end_operation
UPDATE log.operations SET stage = NULL, share = 1, failed = %(failed)s, outcome = %(outcome)s, done_at = clock_timestamp()
WHERE user_id = %(user_id)s AND operation_id = %(operation_id)s AND done_at IS NULL;

-- name: forget_operations
DELETE FROM log.operations WHERE done_at < now() - interval '90 days';

-- name: mode_vectors
-- The vectors of a mode's cards by embedder. NULL: cards that wait for their vector. `modes` are the names that cards of
-- the mode may have: a name, or a project, U+001F and a name.
SELECT v.model, count(*) FROM (
    SELECT card_id, model FROM vectors.card_vectors_384 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, model FROM vectors.card_vectors_768 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, model FROM vectors.card_vectors_1024 WHERE user_id = %(user_id)s
    UNION ALL SELECT card_id, NULL FROM vectors.pending_vectors WHERE user_id = %(user_id)s AND failure IS NULL
) v
JOIN cards.cards c ON c.user_id = %(user_id)s AND c.card_id = v.card_id
WHERE ARRAY[coalesce(c.mode, 'general'), c.project_id || E'\x1f' || c.mode] && %(modes)s::text[]
  AND (%(project_id)s::text IS NULL OR c.project_id = %(project_id)s)
GROUP BY v.model;

-- name: named_spaces
SELECT slot, name, fingerprint FROM vectors.spaces;
