-- Whatever was ever said of the things of which something was said after a position: statements, and remarks on them.
WITH news AS (
    SELECT s.identity FROM cards.statements s WHERE s.user_id = %(user_id)s AND s.position > %(known_position)s
    UNION
    SELECT s.identity FROM cards.remarks r JOIN cards.statements s ON s.user_id = r.user_id AND s.event_id = r.target
    WHERE r.user_id = %(user_id)s AND r.position > %(known_position)s
), meant AS MATERIALIZED (
    SELECT s.identity, s.event_id, s.partition, s.position
    FROM cards.statements s
    WHERE s.user_id = %(user_id)s AND s.identity IN (SELECT identity FROM news)
      AND (%(cards)s::uuid[] IS NULL OR s.identity IN (
            SELECT own.identity FROM cards.statements own
            WHERE own.user_id = %(user_id)s AND own.event_id = ANY (%(cards)s::uuid[])))
), told AS (
    SELECT identity, event_id, partition, position FROM meant
    UNION
    SELECT NULL, r.event_id, r.partition, r.position
    FROM cards.remarks r WHERE r.user_id = %(user_id)s AND r.target IN (SELECT event_id FROM meant)
)
SELECT told.identity, e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version,
       e.dedupe_key, e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id, e.data::text AS data
FROM told JOIN log.events e ON e.partition = told.partition AND e.position = told.position
ORDER BY e.position;
