-- The card events among the latest events of one user up to a position, with the events that cause or withdraw them,
-- oldest first. Extractors write all of them to streams that begin with extraction/. The range of streams skips the
-- turns. Episodes are left out after the limit: looking into every payload of a long history takes a second.
-- A text holds no unescaped quote, so the pattern finds the field and no words of a turn.
SELECT e.partition, e.position, e.event_id, e.user_id, e.stream, e.version, e.type, e.schema_version, e.dedupe_key,
       e.occurred_at, e.recorded_at, e.actor, e.causation_id, e.correlation_id,
       sealing.readable(e.user_id, e.partition, e.position, e.data) AS data
FROM log.events e
WHERE e.partition = %(partition)s AND e.position = ANY (ARRAY(
    SELECT of_user.position FROM log.events of_user
    WHERE of_user.partition = %(partition)s AND of_user.user_id = %(user_id)s
      AND of_user.stream >= 'extraction/' AND of_user.stream < 'extraction0' AND of_user.position <= %(head)s
      AND of_user.type IN ('StateAsserted', 'EventNoted', 'CardsWithdrawn', 'TurnsExtracted')
    ORDER BY of_user.position DESC
    LIMIT %(events)s
)) AND strpos(e.data::text, '"episode":true') = 0
ORDER BY e.position;
