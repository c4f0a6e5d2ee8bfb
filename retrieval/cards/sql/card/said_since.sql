-- All statements and remarks of the identities that have later ones than a position, or of the identities of the cards.
-- Identities that share an event can only be folded together, so the connected identities are included.
WITH RECURSIVE meant(identity) AS (
    (SELECT s.identity FROM cards.statements s
     WHERE s.user_id = %(user_id)s AND s.position > %(known_position)s AND %(cards)s::uuid[] IS NULL
     UNION
     SELECT s.identity FROM cards.remarks r JOIN cards.statements s ON s.user_id = r.user_id AND s.event_id = r.target
     WHERE r.user_id = %(user_id)s AND r.position > %(known_position)s AND %(cards)s::uuid[] IS NULL
     UNION
     SELECT s.identity FROM cards.statements s
     WHERE s.user_id = %(user_id)s AND s.event_id = ANY (%(cards)s::uuid[]))
    UNION
    SELECT other.identity FROM meant
    JOIN cards.statements s ON s.user_id = %(user_id)s AND s.identity = meant.identity
    JOIN cards.statements other ON other.user_id = s.user_id AND other.event_id = s.event_id
), found AS MATERIALIZED (
    SELECT s.identity, s.event_id, s.partition, s.position
    FROM meant JOIN cards.statements s ON s.user_id = %(user_id)s AND s.identity = meant.identity
), stated AS (
    SELECT identity, event_id, partition, position FROM found
    UNION ALL
    SELECT DISTINCT NULL, r.event_id, r.partition, r.position
    FROM cards.remarks r WHERE r.user_id = %(user_id)s AND r.target IN (SELECT event_id FROM found)
)
SELECT stated.identity, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM stated JOIN log.events e ON e.partition = stated.partition AND e.position = stated.position
ORDER BY e.position;
