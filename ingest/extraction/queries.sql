-- name: cards_of_user
-- The events of ``types`` among the latest events of one user up to a position, oldest first. Extractors write to streams
-- that begin with extraction/, and commands to problems and threads. The choice of streams skips the turns. Episodes are
-- left out after the limit: looking into every payload of a long history takes a second.
-- A text holds no unescaped quote, so the pattern finds the field and no words of a turn.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = ANY (ARRAY(
    (SELECT of_user.position FROM log.events of_user
     WHERE of_user.partition = %(partition)s AND of_user.user_id = %(user_id)s
       AND of_user.stream >= 'extraction/' AND of_user.stream < 'extraction0' AND of_user.position <= %(head)s
       AND of_user.type = ANY (%(types)s)
     ORDER BY of_user.position DESC
     LIMIT %(events)s)
    UNION ALL
    (SELECT of_user.position FROM log.events of_user
     WHERE of_user.partition = %(partition)s AND of_user.user_id = %(user_id)s
       AND of_user.stream IN ('problems', 'threads') AND of_user.position <= %(head)s
       AND of_user.type = ANY (%(types)s)
     ORDER BY of_user.position DESC
     LIMIT %(events)s)
)) AND strpos(e.data::text, '"episode":true') = 0
ORDER BY e.position;

-- name: cards_of_user_since
-- The events of ``types`` of one user between two positions, and the erasures, oldest first.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position > %(after)s AND e.position <= %(head)s
  -- The concatenation keeps the planner on the positions. The index of users would read the whole history.
  AND e.user_id || '' = %(user_id)s
  AND (e.type = ANY (%(types)s) OR e.type = 'SubjectErased')
  AND strpos(e.data::text, '"episode":true') = 0
ORDER BY e.position;

-- name: erasures_since
-- The erasures of some users above a position. The look-up by the stream of the tombstones costs one index probe a user.
SELECT {event e}
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(positions)s::bigint[]) AS u(partition, user_id, position)
JOIN log.events e ON e.partition = u.partition AND e.user_id = u.user_id AND e.stream = %(stream)s::text
                 AND e.position > u.position;

-- name: turns_at
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = ANY (%(positions)s::bigint[])
ORDER BY e.position;

-- name: latest_turns_of_session
-- The latest turns of a session, the newest first.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s AND e.type = 'TurnRecorded'
ORDER BY e.version DESC
LIMIT %(limit)s;

-- name: preceding_turns
-- The turns of sessions below a version and above the version that is known, and the erasures above a position.
SELECT first.ordinal, {event e}
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(streams)s::text[], %(versions)s::bigint[],
            %(known)s::bigint[], %(positions)s::bigint[])
     WITH ORDINALITY AS first(partition, user_id, stream, version, known, position, ordinal)
CROSS JOIN LATERAL (
    (SELECT * FROM log.events e
     WHERE e.partition = first.partition AND e.user_id = first.user_id AND e.stream = first.stream
       AND e.version < first.version AND e.version > first.known
     ORDER BY e.version DESC
     LIMIT %(limit)s)
    UNION ALL
    SELECT * FROM log.events e
    WHERE e.partition = first.partition AND e.user_id = first.user_id AND e.stream = %(tombstones)s::text
      AND e.position > first.position
) e
ORDER BY first.ordinal, e.version;

-- name: recent_extractions
-- The latest extractions of a session, the newest first. The cards of an extraction stand in the same stream.
SELECT {event e}
FROM (
    SELECT * FROM log.events latest
    WHERE latest.partition = %(partition)s AND latest.user_id = %(user_id)s AND latest.stream = %(stream)s
    ORDER BY latest.version DESC
    LIMIT 60
) e
WHERE e.type = 'TurnsExtracted'
ORDER BY e.version DESC
LIMIT %(limit)s;

-- name: tokens_spent
-- The tokens that a user has cost since an instant, by events of some types. A value that is no count is ignored.
-- Without this check, one bad payload would fail the query. The named types are those of the index.
SELECT coalesce(sum(CASE WHEN spent.tokens ~ '^[0-9]{1,15}$' THEN spent.tokens::bigint END), 0)
FROM log.events e
CROSS JOIN LATERAL json_each_text(
    CASE WHEN e.type = ANY (%(types)s) AND strpos(e.data::text, '\u0000') = 0
         THEN CASE WHEN json_typeof(e.data->'usage') = 'object' THEN e.data->'usage' END
    END) AS spent(name, tokens)
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.recorded_at >= %(since)s
  AND e.type IN ('TurnsExtracted', 'ExtractionFailed', 'CuratorRan') AND e.type = ANY (%(types)s)
  AND spent.name IN ('input_tokens', 'output_tokens', 'cache_read_tokens', 'cache_write_tokens');
