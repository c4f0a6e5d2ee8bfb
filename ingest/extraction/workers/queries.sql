-- name: cards_of_extractions
-- The card events of extractions. They follow the event of the extraction in the same append.
-- Under a policy an index is used for a plain comparison only. OFFSET 0 keeps the sum out of the comparison.
SELECT e.event_id, e.position
FROM unnest(%(positions)s::bigint[], %(events)s::uuid[], %(cards)s::integer[]) AS r(position, event_id, cards)
CROSS JOIN LATERAL (SELECT r.position + r.cards AS position OFFSET 0) last
JOIN log.events e ON e.partition = %(partition)s AND e.position > r.position AND e.position <= last.position
                 AND e.causation_id = r.event_id AND e.type IN (
                     'StateAsserted', 'EventNoted', 'KnowledgeLearned',
                     'ProblemOpened', 'ProblemAttempted', 'ProblemClosed')
ORDER BY e.position;

-- name: extracted_above
-- The turns above the checkpoints that are extracted already. Their events follow in the same partition.
SELECT e.partition, (p.value::text)::bigint
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS c(partition, position)
JOIN log.events e ON e.partition = c.partition AND e.position > c.position
-- A payload without a list of positions is ignored. One bad payload must not stop the worker.
CROSS JOIN LATERAL json_array_elements(
    CASE WHEN e.type IN ('TurnsExtracted', 'ExtractionFailed') AND strpos(e.data::text, '\u0000') = 0
         THEN CASE WHEN json_typeof(e.data->'turn_positions') = 'array' THEN e.data->'turn_positions' END
    END) AS p
WHERE e.type IN ('TurnsExtracted', 'ExtractionFailed')
  AND CASE WHEN (p.value::text) ~ '^[0-9]{1,18}$' THEN (p.value::text)::bigint > c.position END;

-- name: latest_extraction
SELECT {event e}
FROM log.events e
WHERE e.type IN ('TurnsExtracted', 'ExtractionFailed')
ORDER BY e.recorded_at DESC, e.position DESC
LIMIT 1;

-- name: past_extractions
-- The extractions and failed extractions of one partition, in order.
SELECT {event e}
FROM log.events e
WHERE e.partition = %(partition)s AND e.type IN ('TurnsExtracted', 'ExtractionFailed')
  AND (%(user_id)s::text IS NULL OR e.user_id = %(user_id)s::text)
ORDER BY e.position;

-- name: acquire_partitions
-- Locks partitions with news until the session ends. Partitions of another extractor are skipped. The server ends a
-- session that holds a partition and is silent for idle_ms: its process is stopped, and another extractor goes on.
WITH news AS MATERIALIZED (
    SELECT c.partition FROM log.checkpoints c JOIN log.heads h USING (partition)
    WHERE c.processor = %(processor)s AND c.generation = %(generation)s AND h.position > c.position
      AND (%(partitions)s::smallint[] IS NULL OR c.partition = ANY (%(partitions)s::smallint[]))
      AND c.partition <> ALL (%(held)s::smallint[])
    ORDER BY c.moved_at NULLS FIRST, c.partition
)
SELECT partition, set_config('idle_session_timeout', %(idle_ms)s::text, false) FROM news
WHERE pg_try_advisory_lock(hashtextextended('cardlog extractor ' || partition, 0))
LIMIT %(limit)s;

-- name: reextraction_lock
SELECT pg_try_advisory_lock(hashtextextended('cardlog reextract', 0));

-- name: release_partitions
-- idle_ms is 0 when the session holds no other partition. A silent session without locks hinders nobody.
SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false),
       pg_advisory_unlock(hashtextextended('cardlog extractor ' || c.partition, 0))
FROM unnest(%(partitions)s::smallint[]) AS c(partition);

-- name: keep_plans
-- The statements of a batch take a few keys and read by an index. For a few turns their plans cost more than their rows.
-- A plan is made when the tables may still be empty, so it must not read whole tables.
SELECT set_config('plan_cache_mode', 'force_generic_plan', false), set_config('enable_seqscan', 'off', false);

-- name: try_lock_partitions
-- Locks the partitions that no other extractor owns, until the transaction ends.
SELECT c.partition FROM unnest(%(partitions)s::smallint[]) AS c(partition)
WHERE pg_try_advisory_xact_lock(hashtextextended('cardlog extractor ' || c.partition, 0));
