-- name: drop_tables
SELECT log.drop_tables(%(schema)s);

-- name: make_tables
SELECT log.make_tables(%(schema)s);

-- name: protect_tables
SELECT log.protect_tables(%(schema)s);

-- name: run_step
SELECT log.run_step(%(schema)s, %(kind)s, %(number)s);

-- name: store_blueprint
DELETE FROM log.blueprints b WHERE b.projection = {projection}
    AND (b.kind, b.step, b.script) NOT IN (SELECT w.kind, w.step, w.script FROM (VALUES {steps}) AS w(projection, kind, step, script));
INSERT INTO log.blueprints (projection, kind, step, script)
SELECT * FROM (VALUES {steps}) AS w(projection, kind, step, script) ON CONFLICT DO NOTHING;

-- name: generations
-- Every generation with its progress and its size. The tables of the live generation are in the projection's schema.
SELECT g.projection, g.generation AS number, g.status, g.created_at, g.live_at, position.events, position.behind,
       (SELECT coalesce(sum(pg_total_relation_size(c.oid)), 0)::bigint
        FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
        WHERE c.relkind IN ('r', 'm')
          AND n.nspname = CASE g.status WHEN 'live' THEN g.projection ELSE g.projection || '_g' || g.generation END
       ) AS bytes
FROM log.generations g
CROSS JOIN LATERAL (
    SELECT coalesce(sum(c.position), 0)::bigint AS events, coalesce(sum(h.position - c.position), 0)::bigint AS behind
    FROM log.checkpoints c JOIN log.heads h USING (partition)
    WHERE c.processor = g.projection AND c.generation = g.generation
) position
WHERE %(projection)s::text IS NULL OR g.projection = %(projection)s::text
ORDER BY g.projection, g.generation;

-- name: next_generation
SELECT coalesce(max(generation), 0) + 1 FROM log.generations WHERE projection = %(projection)s;

-- name: live_generation
SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live';

-- name: live_generation_locked
-- The row is read after the lock is held, so it stays true until the transaction ends.
SELECT generation FROM log.generations WHERE projection = %(projection)s AND status = 'live';

-- name: other_tables
-- The tables and views of one schema that another schema lacks, or has with other columns.
WITH described AS (
    SELECT c.relnamespace, c.relname, array_agg(ROW(a.attname, a.atttypid, a.atttypmod)::text ORDER BY a.attname) AS columns
    FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
    WHERE c.relkind IN ('r', 'p', 'v') GROUP BY c.oid
)
SELECT wanted.relname FROM described wanted
LEFT JOIN described found ON found.relname = wanted.relname AND found.relnamespace = to_regnamespace(%(found)s)
WHERE wanted.relnamespace = to_regnamespace(%(wanted)s) AND found.columns IS DISTINCT FROM wanted.columns
ORDER BY wanted.relname;

-- name: may_publish
SELECT has_table_privilege('log.blueprints', 'INSERT');

-- name: add_generation
INSERT INTO log.generations (projection, generation, status, live_at)
VALUES (%(projection)s, %(generation)s, %(status)s,
        CASE WHEN %(status)s::text = 'live' THEN clock_timestamp() END);

-- name: delete_checkpoints
-- The foreign key deletes the parked events of this generation too.
DELETE FROM log.checkpoints WHERE processor = %(projection)s AND generation = %(generation)s;

-- name: delete_generation
DELETE FROM log.generations WHERE projection = %(projection)s AND generation = %(generation)s;

-- name: change_lock
SELECT pg_try_advisory_lock(hashtextextended('cardlog change ' || %(projection)s, 0));

-- name: change_unlock
SELECT pg_advisory_unlock(hashtextextended('cardlog change ' || %(projection)s, 0));

-- name: digest_settings
-- The text form of a row must not depend on the settings of the server or of the session.
SET LOCAL TimeZone = 'UTC';
SET LOCAL DateStyle = 'ISO, YMD';
SET LOCAL extra_float_digits = 1;
SET LOCAL bytea_output = 'hex';

-- name: generations_lock
SELECT pg_advisory_xact_lock(hashtext('cardlog generations'));

-- name: lock_timeout
SELECT set_config('lock_timeout', %(timeout)s, true);

-- name: lock_live_exclusive
SELECT pg_advisory_lock(hashtextextended('cardlog live ' || %(projection)s, 0));

-- name: lock_live_shared
-- The lock is shared: many runners fold at once, and a swap waits for all of them. It is an advisory lock and not a
-- row lock, because the queue of an advisory lock is fair. A steady flow of runners therefore cannot starve a swap.
SELECT pg_advisory_xact_lock_shared(hashtextextended('cardlog live ' || %(projection)s, 0));

-- name: unlock_live
SELECT pg_advisory_unlock(hashtextextended('cardlog live ' || %(projection)s, 0));
