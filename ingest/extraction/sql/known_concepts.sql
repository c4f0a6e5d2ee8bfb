-- The recent concept keys in one partition, by user, the most recent first.
SELECT e.user_id, e.data->>'concept_key', max(e.position)
FROM log.heads h
JOIN log.events e ON e.partition = h.partition AND e.position > h.position - %(depth)s
-- A payload with NUL can be stored, but ->> on it fails. One such payload would fail the query for the whole partition.
WHERE h.partition = %(partition)s AND e.type = 'StateAsserted' AND strpos(e.data::text, '\u0000') = 0
GROUP BY 1, 2
ORDER BY 3 DESC;
