-- The card events of extractions. They follow the event of the extraction in the same append.
SELECT e.event_id, e.position
FROM unnest(%(positions)s::bigint[], %(events)s::uuid[], %(cards)s::integer[]) AS r(position, event_id, cards)
JOIN log.events e ON e.partition = %(partition)s AND e.position > r.position AND e.position <= r.position + r.cards
                 AND e.causation_id = r.event_id AND e.type IN ('StateAsserted', 'EventNoted', 'KnowledgeLearned')
ORDER BY e.position;
