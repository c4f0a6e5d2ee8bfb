-- All events of the chains in which an event was replaced after a position. With `cards`, only the chains of these cards.
WITH RECURSIVE chain(card) AS (
    SELECT r.to_card
    FROM cards.relations r
    JOIN cards.cards newer ON newer.user_id = r.user_id AND newer.kind = 'event' AND newer.card_id = r.from_card
    WHERE r.user_id = %(user_id)s AND r.implied AND r.predicate = 'update' AND newer.position > %(known_position)s
      AND (%(cards)s::uuid[] IS NULL OR r.to_card = ANY (%(cards)s::uuid[]))
    UNION
    SELECT side.other FROM chain
    CROSS JOIN LATERAL (
        SELECT r.from_card AS other FROM cards.relations r
        WHERE r.user_id = %(user_id)s AND r.to_card = chain.card AND r.implied AND r.predicate = 'update'
        UNION ALL
        SELECT r.to_card FROM cards.relations r
        WHERE r.user_id = %(user_id)s AND r.from_card = chain.card AND r.implied AND r.predicate = 'update'
    ) side
)
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM chain
JOIN cards.cards c ON c.user_id = %(user_id)s AND c.kind = 'event' AND c.card_id = chain.card
JOIN log.events e ON e.partition = %(partition)s AND e.position = c.position
ORDER BY e.position;
