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
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
  AND e.version = 1 AND EXISTS (SELECT FROM upto)
UNION ALL
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
  AND e.version > 1 AND e.version >= (SELECT version FROM valued) AND e.version <= (SELECT version FROM upto)
ORDER BY version;
