-- name: last_of_streams
-- The last event of every stream of an owner between two names, in the order of the names.
SELECT DISTINCT ON (stream)
       {event events}
FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream >= %(first)s AND stream < %(last)s
ORDER BY stream, version DESC;

-- name: stream_state
-- The events that make the state of a stream at a version or an instant, in order: the first one, the last change of the
-- value, and everything after it. A changed value is complete, so no other event is needed. Each part is one range of the
-- index of versions. A single condition with OR would read the whole history.
WITH upto AS (
    SELECT e.version FROM log.events e
    WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
      AND (%(version)s::bigint IS NULL OR e.version <= %(version)s)
      AND (%(as_of)s::timestamptz IS NULL OR e.occurred_at <= %(as_of)s)
    ORDER BY e.version DESC LIMIT 1
), valued AS (
    SELECT e.version FROM log.events e
    WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
      AND e.version <= (SELECT version FROM upto) AND e.type IN (%(creating)s, %(changing)s)
    ORDER BY e.version DESC LIMIT 1
)
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
  AND e.version = 1 AND EXISTS (SELECT FROM upto)
UNION ALL
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
  AND e.version > 1 AND e.version >= (SELECT version FROM valued) AND e.version <= (SELECT version FROM upto)
ORDER BY version;

-- name: references_then
-- The last event of each type in each reference of some owners, by an instant, in order. They tell the references of then.
-- Without the range of streams, the whole history of an owner is read.
WITH then_last AS MATERIALIZED (
    SELECT DISTINCT ON (e.user_id, e.stream, e.type) e.*
    FROM unnest(%(owners)s::text[], %(partitions)s::smallint[]) AS asked(user_id, partition)
    JOIN log.events e ON e.partition = asked.partition AND e.user_id = asked.user_id
    WHERE e.stream >= %(first)s AND e.stream < %(last)s AND e.type = ANY (%(types)s::text[])
      AND (%(as_of)s::timestamptz IS NULL OR e.occurred_at <= %(as_of)s::timestamptz)
      AND (%(known_at)s::timestamptz IS NULL OR e.recorded_at <= %(known_at)s::timestamptz)
    ORDER BY e.user_id, e.stream, e.type, e.version DESC
)
SELECT {event e}
FROM then_last e
ORDER BY e.partition, e.user_id, e.stream, e.version;

-- name: stream_version
-- The version of a stream. It looks at the end of the index of versions, and opens no payload.
SELECT version FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream = %(stream)s
ORDER BY version DESC
LIMIT 1;

-- name: streams_of
-- The streams between two names. Each has a first event, so the index of versions finds them.
SELECT stream FROM log.events
WHERE partition = %(partition)s AND user_id = %(user_id)s AND stream >= %(first)s AND stream < %(last)s AND version = 1
ORDER BY stream
LIMIT 1000;

-- name: lock_owner
-- Waits for the writers of an owner's references and document, and stops later ones until the transaction ends.
SELECT pg_advisory_xact_lock(hashtextextended(%(user_id)s, 7));

-- name: lock_stream
-- Writers of one reference work one after the other until the transaction ends. The lock is a hash of the stream, so
-- two streams share a lock only after a rare collision. An erasure of the owner waits for all of them, because a change
-- holds the complete value, and with it what the erasure takes.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(user_id)s, 7)),
       pg_advisory_xact_lock(hashtextextended(%(user_id)s || E'\x1e' || %(stream)s, 5));

-- name: share_owner
-- Lets no erasure of an owner begin until the transaction ends, and waits for a running one. Writers share the lock.
SELECT pg_advisory_xact_lock_shared(hashtextextended(%(user_id)s, 7));
