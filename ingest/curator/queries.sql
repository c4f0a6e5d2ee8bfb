-- name: behind
-- True while the card tables lack the last events of a user. The curator then waits.
SELECT coalesce((
    SELECT c.position FROM log.generations g
    JOIN log.checkpoints c ON c.processor = g.projection AND c.generation = g.generation AND c.partition = %(partition)s
    WHERE g.projection = 'cards' AND g.status = 'live'), 0) < %(position)s;

-- name: last_change
-- The position of the last event of a user in its partition. 0: there is none.
SELECT coalesce(max(e.position), 0) FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.actor <> 'curator';

-- name: memory_cards
-- The last cards of a user, in the order of the log. A relation retracts an event card, and the card does not tell it.
SELECT card_id, kind, content, position, said_at, project_id, session_id, turn_ids, provenance, tags, entity, concept_key,
       value, cardinality, effective_at, superseded_at, occurred_at, mode, speaker, episode, event_status,
       retracted OR card_id IN (SELECT r.to_card FROM cards.remembered_relations r
                                WHERE r.user_id = %(user_id)s AND r.predicate = 'retracts' AND NOT r.implied) AS retracted
FROM (SELECT * FROM cards.remembered_cards c WHERE c.user_id = %(user_id)s
      ORDER BY c.position DESC, c.card_id DESC LIMIT %(limit)s) newest
ORDER BY position, card_id;

-- name: related_cards
-- The pairs of a user's cards with a relation that holds, but those that the curator related.
SELECT DISTINCT from_card, to_card FROM cards.remembered_relations
WHERE user_id = %(user_id)s AND actor <> 'curator';

-- name: changed_users
-- The users with events above the checkpoints that are not the curator's own, the first that changed first.
SELECT e.user_id, max(e.position) AS position, e.partition,
       extract(epoch FROM clock_timestamp() - max(e.recorded_at))::float8 AS idle_s,
       extract(epoch FROM clock_timestamp() - min(e.recorded_at))::float8 AS waiting_s,
       min(e.position) AS first
FROM log.checkpoints c
JOIN log.events e ON e.partition = c.partition AND e.position > c.position AND e.position <= c.position + %(events)s
WHERE c.processor = 'curator' AND c.generation = 0 AND e.actor <> 'curator'
GROUP BY e.partition, e.user_id
ORDER BY first, e.partition;

-- name: read_to
-- How far each partition is read: to its head, or to the bound of one look.
SELECT c.partition, c.position, least(h.position, c.position + %(events)s) AS reached
FROM log.checkpoints c JOIN log.heads h USING (partition)
WHERE c.processor = 'curator' AND c.generation = 0 AND h.position > c.position
ORDER BY c.partition;

-- name: pass_read
UPDATE log.checkpoints SET position = %(position)s, moved_at = clock_timestamp()
WHERE processor = 'curator' AND generation = 0 AND partition = %(partition)s AND position < %(position)s;

-- name: one_snapshot
SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;

-- name: ask_alone
SELECT pg_try_advisory_lock(hashtextextended('cardlog curator asks ' || %(user_id)s, 0));

-- name: asked_alone
SELECT pg_advisory_unlock(hashtextextended('cardlog curator asks ' || %(user_id)s, 0));
