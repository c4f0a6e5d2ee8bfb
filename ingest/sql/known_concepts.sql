-- The concept keys said of late in one partition, by user, the most recent first.
SELECT e.user_id, e.data->>'concept_key', max(e.position)
FROM log.heads h
JOIN log.events e ON e.partition = h.partition AND e.position > h.position - %(depth)s
WHERE h.partition = %(partition)s AND e.type = 'StateAsserted'
GROUP BY 1, 2
ORDER BY 3 DESC;
