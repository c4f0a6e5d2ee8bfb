-- name: changes_between
-- The changes of a user after one version and up to another, in order.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, recorded_at, actor, trust, source, confidence,
       rationale, turn_ids, others
FROM {live}changes
WHERE user_id = %(user_id)s AND version > %(after)s AND version <= %(upto)s
ORDER BY version;

-- name: digest
-- Two 64-bit sums over every column. The sums do not depend on the order of the rows.
WITH line AS (
    SELECT 'documents' AS name, o::text AS content FROM documents o
    UNION ALL SELECT 'snapshots', s::text FROM snapshots s
    UNION ALL SELECT 'changes', c::text FROM changes c
    UNION ALL SELECT 'queue', q::text FROM queue q
    UNION ALL SELECT 'statements', s::text FROM card_statements s
    UNION ALL SELECT 'remarks', r::text FROM card_remarks r
)
SELECT name, count(*), sum(hashtextextended(content, 0)), sum(hashtextextended(content, 1))
FROM line GROUP BY name ORDER BY name;

-- name: document
-- The document as the tables have it, with the checkpoint of the tables. One statement, so both are of one moment.
SELECT folded.position AS folded, d.version, d.position, d.document::text AS document, d.marks::text AS marks, d.updated_at
FROM (
    SELECT coalesce((SELECT c.position FROM log.checkpoints c
                     JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                           AND g.status = 'live'
                     WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS position
) folded
LEFT JOIN documents d ON d.user_id = %(user_id)s;

-- name: held
-- The number of rows of a user, by table.
SELECT 'documents', count(*) FROM documents WHERE user_id = %(user_id)s
UNION ALL SELECT 'snapshots', count(*) FROM snapshots WHERE user_id = %(user_id)s
UNION ALL SELECT 'changes', count(*) FROM changes WHERE user_id = %(user_id)s
UNION ALL SELECT 'queue', count(*) FROM queue WHERE user_id = %(user_id)s
UNION ALL SELECT 'statements', count(*) FROM card_statements WHERE user_id = %(user_id)s
UNION ALL SELECT 'remarks', count(*) FROM card_remarks WHERE user_id = %(user_id)s;

-- name: known_remarks
SELECT {event e}
FROM {live}card_remarks r
JOIN log.events e ON e.partition = r.partition AND e.position = r.position
WHERE r.user_id = %(user_id)s AND r.target = ANY (%(events)s::uuid[])
ORDER BY e.position;

-- name: known_statements
-- The statements of identities, and all identities that each of them is about.
SELECT DISTINCT {event e}
FROM {live}card_statements s
JOIN log.events e ON e.partition = s.partition AND e.position = s.position
WHERE s.user_id = %(user_id)s AND s.identity = ANY (%(identities)s::text[]);

-- name: queue_entries
-- The open entries of a user, and the entries with these ids.
SELECT queue_id, status, position, queued_at, entry::text AS entry FROM {live}queue
WHERE user_id = %(user_id)s AND (status = 'open' OR queue_id = ANY (%(ids)s::uuid[]));

-- name: statement_identities
-- The identities of statements, which are named by their ids or by their positions.
SELECT DISTINCT s.identity FROM {live}card_statements s
WHERE s.user_id = %(user_id)s
  AND (s.event_id = ANY (%(events)s::uuid[]) OR s.position = ANY (%(positions)s::bigint[]));

-- name: withdrawn_statements
SELECT DISTINCT event_id FROM card_statements WHERE user_id = %(user_id)s AND position = ANY (%(positions)s::bigint[]);

-- name: live_folded
-- The checkpoint of the tables.
SELECT coalesce((SELECT c.position FROM log.checkpoints c
                 JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation
                                       AND g.status = 'live'
                 WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS folded;

-- name: live_later_event
-- True when the log has an event of these types between two positions. See live_present for OFFSET 0.
SELECT EXISTS (
    SELECT FROM (
        SELECT user_id, type FROM log.events
        WHERE partition = %(partition)s AND position > %(after)s AND position < %(before)s
        ORDER BY position OFFSET 0
    ) e
    WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
) AS later;

-- name: live_present
-- The document as the tables have it, and then the events of the user above the checkpoint of the tables, in order. One
-- statement, so all are of one moment. `head` is the last event of the partition then. OFFSET 0 makes the range of
-- positions the first condition: another index would read the whole history of the user.
WITH folded AS MATERIALIZED (
    SELECT h.position AS head, coalesce((
        SELECT c.position FROM log.checkpoints c
        JOIN log.generations g ON g.projection = c.processor AND g.generation = c.generation AND g.status = 'live'
        WHERE c.processor = 'core' AND c.partition = %(partition)s), 0) AS folded
    FROM log.heads h WHERE h.partition = %(partition)s
)
SELECT f.folded, f.head, d.document::text AS document, d.marks::text AS marks, d.updated_at, NULL::smallint AS partition,
       d.position, NULL::uuid AS event_id, NULL AS user_id, NULL AS stream, d.version, NULL AS type,
       NULL::smallint AS schema_version, NULL AS dedupe_key, NULL::timestamptz AS occurred_at,
       NULL::timestamptz AS recorded_at, NULL AS actor, NULL::uuid AS causation_id, NULL::uuid AS correlation_id,
       NULL AS data
FROM folded f LEFT JOIN core.documents d ON d.user_id = %(user_id)s
UNION ALL
SELECT NULL, NULL, NULL, NULL, NULL, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type,
       e.schema_version, e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       {readable e}
FROM folded f CROSS JOIN LATERAL (
    SELECT * FROM (
        SELECT * FROM log.events WHERE partition = %(partition)s AND position > f.folded ORDER BY position OFFSET 0
    ) later
    WHERE later.user_id = %(user_id)s AND later.type = ANY (%(types)s::text[])
    LIMIT %(limit)s
) e
ORDER BY partition NULLS FIRST, position;

-- name: live_unfolded
-- The events of a user above a position, in order. See live_present for OFFSET 0.
SELECT {event e}
FROM (
    SELECT * FROM log.events WHERE partition = %(partition)s AND position > %(folded)s ORDER BY position OFFSET 0
) e
WHERE e.user_id = %(user_id)s AND e.type = ANY (%(types)s::text[])
LIMIT %(limit)s;

-- name: live_changed_users
-- The next users whose documents changed since an instant.
SELECT d.user_id FROM core.documents d
WHERE d.updated_at >= %(since)s AND d.user_id > %(after)s
ORDER BY d.user_id
LIMIT 500;

-- name: live_changes_named
-- The changes that made these versions.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, recorded_at, actor, trust, source, confidence,
       rationale, turn_ids, others
FROM core.changes
WHERE user_id = %(user_id)s AND version = ANY (%(versions)s::bigint[]);

-- name: live_history
-- The changes of a user below a version, the latest first.
SELECT version, event_id, position, kind, ops::text AS ops, guards, at, recorded_at, actor, trust, source, confidence,
       rationale, turn_ids, others
FROM core.changes
WHERE user_id = %(user_id)s AND version < %(below)s
ORDER BY version DESC
LIMIT %(limit)s;

-- name: live_keys_of_others
-- The keys that other users of a tenant made, of the documents that changed last. A user of the default tenant has a
-- plain id.
SELECT ARRAY(SELECT json_object_keys(d.document -> 'uncategorized'))
       || ARRAY(SELECT json_object_keys(d.document -> 'dynamicCategories')) AS keys
FROM core.documents d
WHERE d.user_id <> %(user_id)s
  AND CASE WHEN %(prefix)s::text = '' THEN strpos(d.user_id, E'\x1f') = 0
           ELSE starts_with(d.user_id, %(prefix)s::text) END
ORDER BY d.updated_at DESC NULLS LAST, d.user_id
LIMIT 500;

-- name: live_queue_page
-- The entries of a user, the latest first.
SELECT queue_id, status, position, queued_at, entry::text AS entry FROM core.queue
WHERE user_id = %(user_id)s AND (%(status)s::text IS NULL OR status = %(status)s)
ORDER BY position DESC
LIMIT 1000;

-- name: live_snapshot_before
SELECT version, position, document::text AS document, marks::text AS marks, updated_at FROM core.snapshots
WHERE user_id = %(user_id)s AND version <= %(version)s
ORDER BY version DESC LIMIT 1;

-- name: live_recorded
-- The events of a user that were recorded at an instant, in order. NULL: all of them.
WITH own AS MATERIALIZED (
    SELECT * FROM log.events
    WHERE partition = %(partition)s AND user_id = %(user_id)s AND type = ANY (%(types)s::text[])
      AND (%(known_at)s::timestamptz IS NULL OR recorded_at <= %(known_at)s::timestamptz)
)
SELECT {event e}
FROM own e ORDER BY e.position LIMIT %(limit)s;

-- name: live_version_at
-- The last version that was recorded at an instant.
SELECT coalesce(max(version), 0) AS version FROM core.changes
WHERE user_id = %(user_id)s AND recorded_at <= %(known_at)s;

-- name: delete_present
-- What a later fold puts again: the present document, and the entries that changed.
WITH gone AS (DELETE FROM queue WHERE user_id = %(user_id)s AND queue_id = ANY (%(entries)s::uuid[]))
DELETE FROM documents WHERE user_id = %(user_id)s;

-- name: delete_statements
DELETE FROM card_statements WHERE user_id = %(user_id)s AND event_id = ANY (%(events)s::uuid[]);

-- name: forget_user
WITH documents AS (DELETE FROM documents WHERE user_id = %(user_id)s),
     snapshots AS (DELETE FROM snapshots WHERE user_id = %(user_id)s),
     changes AS (DELETE FROM changes WHERE user_id = %(user_id)s),
     queue AS (DELETE FROM queue WHERE user_id = %(user_id)s),
     statements AS (DELETE FROM card_statements WHERE user_id = %(user_id)s)
DELETE FROM card_remarks WHERE user_id = %(user_id)s;

-- name: copy_card_remarks
COPY {into} (user_id, target, partition, position) FROM STDIN;

-- name: copy_card_statements
COPY {into} (user_id, identity, event_id, partition, position) FROM STDIN;

-- name: copy_changes
COPY {into} (user_id, version, event_id, position, kind, ops, guards, at, recorded_at, actor, trust, source, confidence, rationale, turn_ids, others) FROM STDIN;

-- name: copy_documents
COPY {into} (user_id, version, position, document, marks, updated_at) FROM STDIN;

-- name: copy_queue
COPY {into} (user_id, queue_id, status, position, queued_at, entry) FROM STDIN;

-- name: copy_snapshots
COPY {into} (user_id, version, position, document, marks, updated_at) FROM STDIN;
