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
