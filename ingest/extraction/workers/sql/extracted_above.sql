-- Which turns above the checkpoints were dealt with already: their events stand behind them in the same partition.
SELECT e.partition, (p.value::text)::bigint
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS c(partition, position)
JOIN log.events e ON e.partition = c.partition AND e.position > c.position
-- What is no list of positions says nothing, and must not keep anybody from reading: one bad payload would.
CROSS JOIN LATERAL json_array_elements(
    CASE WHEN e.type IN ('TurnsExtracted', 'ExtractionFailed') AND strpos(e.data::text, '\u0000') = 0
         THEN CASE WHEN json_typeof(e.data->'turn_positions') = 'array' THEN e.data->'turn_positions' END
    END) AS p
WHERE e.type IN ('TurnsExtracted', 'ExtractionFailed')
  AND CASE WHEN (p.value::text) ~ '^[0-9]{1,18}$' THEN (p.value::text)::bigint > c.position END;
