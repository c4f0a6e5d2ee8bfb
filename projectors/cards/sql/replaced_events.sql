-- Noted events that have a card, and the events that replace them. Only timelines of states and knowledge, and noted
-- events, imply updates.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM (
    SELECT t.user_id, t.card_id, t.partition
    FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[]) AS t(user_id, card_id, partition)
    UNION
    SELECT t.user_id, r.from_card, t.partition
    FROM unnest(%(users)s::text[], %(cards)s::uuid[], %(partitions)s::smallint[]) AS t(user_id, card_id, partition)
    JOIN relations r ON r.user_id = t.user_id AND r.to_card = t.card_id
    WHERE r.predicate = 'update' AND r.implied
) held
JOIN cards c ON c.user_id = held.user_id AND c.kind = 'event' AND c.card_id = held.card_id
JOIN log.events e ON e.partition = held.partition AND e.position = c.position
ORDER BY e.partition, e.position;
