-- name: entries
-- The events of the insights of a user, in order.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.stream = %(stream)s
ORDER BY e.version;

-- name: living
-- The cards of a user that hold: neither withdrawn, nor retracted, nor superseded. A relation retracts an event card.
SELECT card_id FROM cards.remembered_cards
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]) AND NOT retracted AND superseded_at IS NULL
  AND card_id NOT IN (SELECT r.to_card FROM cards.remembered_relations r
                      WHERE r.user_id = %(user_id)s AND r.predicate = 'retracts' AND NOT r.implied);
