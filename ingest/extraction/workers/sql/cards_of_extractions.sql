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
