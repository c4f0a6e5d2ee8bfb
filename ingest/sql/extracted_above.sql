-- Which turns above the checkpoints were dealt with already: their events stand behind them in the same partition.
SELECT e.partition, (p.value::text)::bigint
FROM unnest(%(partitions)s::smallint[], %(positions)s::bigint[]) AS c(partition, position)
JOIN log.events e ON e.partition = c.partition AND e.position > c.position
CROSS JOIN LATERAL json_array_elements(e.data->'turn_positions') AS p
WHERE e.type IN ('TurnsExtracted', 'ExtractionFailed') AND (p.value::text)::bigint > c.position;
