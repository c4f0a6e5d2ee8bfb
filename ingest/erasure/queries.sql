-- name: erased_users
SELECT user_id, kind, subject FROM erasure.tombstones WHERE erasure_id = %(erasure_id)s;

-- name: later_event
-- The first event of a user between two positions, other than a tombstone.
SELECT position FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND position > %(after)s AND position < %(before)s
  AND type <> 'SubjectErased' AND event_id <> ALL (%(own)s::uuid[])
ORDER BY position LIMIT 1;

-- name: readable
-- The number of events of a user that can still be opened, among some positions.
SELECT count(*) FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.position = ANY (%(positions)s::bigint[])
  AND NOT (starts_with(e.data::text, '{"sealed":"')
           AND NOT (EXISTS (SELECT FROM sealing.salts s WHERE s.partition = e.partition AND s.position = e.position)
                    AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = e.user_id)));

-- name: retention_rules
SELECT tenant, mode, keep_days, ran_at FROM erasure.retention
WHERE %(tenant)s::text IS NULL OR tenant = %(tenant)s::text ORDER BY tenant, mode;

-- name: teams_of
-- The teams with a stream of a member. Every partition is named, so that the index of the streams answers.
SELECT DISTINCT user_id FROM log.events
WHERE partition = ANY (ARRAY(SELECT generate_series(0, 63))::smallint[])
  AND user_id >= %(first)s AND user_id < %(last)s AND stream = %(stream)s
ORDER BY user_id;

-- name: tombstones
SELECT user_id, erasure_id, kind, subject, events, erased_at FROM erasure.tombstones ORDER BY erased_at, user_id;

-- name: tombstones_of
-- The users of one erasure, or the erasures that are not finished for NULL.
SELECT * FROM erasure.tombstones
WHERE CASE WHEN %(erasure_id)s::uuid IS NULL THEN queue_at IS NULL ELSE erasure_id = %(erasure_id)s::uuid END
ORDER BY erased_at, user_id;

-- name: unsealed
-- The number of events of a user that are not sealed, among some positions.
SELECT count(*) FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.position = ANY (%(positions)s::bigint[])
  AND NOT starts_with(e.data::text, '{"sealed":"');

-- name: users
-- The users of a tenant, in order. A user of the default tenant has a plain id.
SELECT DISTINCT e.user_id FROM log.events e
WHERE (%(tenant)s::text IS NULL
       OR CASE WHEN strpos(e.user_id, E'\x1f') > 0 THEN split_part(e.user_id, E'\x1f', 1) ELSE 'default' END
          = %(tenant)s::text)
ORDER BY e.user_id;

-- name: add_tombstone
INSERT INTO erasure.tombstones (user_id, erasure_id, kind, subject, erased_by, reason, events, partition, position,
                                before, after, counts, began_at, erased_at)
VALUES (%(user_id)s, %(erasure_id)s, %(kind)s, %(subject)s, %(by)s, %(reason)s, %(events)s, %(partition)s, %(position)s,
        %(before)s, %(after)s, %(counts)s::text::jsonb, %(began_at)s, clock_timestamp())
RETURNING erased_at;

-- name: claim_retention
-- Claims the daily run. A second process finds nothing to claim.
UPDATE erasure.retention SET ran_at = clock_timestamp()
WHERE ran_at IS NULL OR ran_at < clock_timestamp() - interval '1 day';

-- name: queue_done
UPDATE erasure.tombstones SET queue_at = clock_timestamp()
WHERE queue_at IS NULL AND erasure_id = %(erasure_id)s AND user_id = %(user_id)s;

-- name: remove_retention
DELETE FROM erasure.retention WHERE tenant = %(tenant)s AND mode = %(mode)s;

-- name: retention_ran
UPDATE erasure.retention SET ran_at = clock_timestamp() WHERE %(tenant)s::text IS NULL OR tenant = %(tenant)s::text;

-- name: set_retention
INSERT INTO erasure.retention (tenant, mode, keep_days) VALUES (%(tenant)s, %(mode)s, %(keep_days)s)
ON CONFLICT (tenant, mode) DO UPDATE SET keep_days = excluded.keep_days, ran_at = NULL;
