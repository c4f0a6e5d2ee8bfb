-- name: arbitration
SELECT detail AS status FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'arbitration' AND id = %(arbitration)s::uuid;

-- name: card_events
-- The events of the statements about the same fact as a card, or the event of an event card.
SELECT {event e}
FROM (SELECT s.position FROM cards.retractable_statements s
      WHERE s.user_id = %(user_id)s AND s.card_id = %(card)s::uuid
      UNION
      SELECT c.position FROM cards.retractable_cards c
      WHERE c.user_id = %(user_id)s AND c.kind = 'event' AND c.card_id = %(card)s::uuid) said
JOIN log.events e ON e.partition = %(partition)s AND e.position = said.position AND e.user_id = %(user_id)s
ORDER BY e.position;

-- name: cause_of_card
SELECT e.causation_id FROM cards.command_targets c
JOIN log.events e ON e.partition = %(partition)s AND e.position = c.position AND e.user_id = %(user_id)s
WHERE c.user_id = %(user_id)s AND c.target IN ('card', 'statement') AND c.id = %(card)s::uuid
LIMIT 1;

-- name: concept
-- A concept by its card, or by the card of a concept that was merged into it.
WITH RECURSIVE same(event_id) AS (
    SELECT %(card)s::uuid
    UNION
    SELECT s.event_id FROM same
    JOIN cards.retractable_statements s ON s.user_id = %(user_id)s AND s.card_id = same.event_id
)
SELECT c.card_id, c.project_id, c.mode, c.title, c.aliases, c.definition
FROM cards.concepts c
WHERE c.user_id = %(user_id)s AND c.card_id IN (SELECT event_id FROM same)
ORDER BY c.card_id <> %(card)s::uuid, c.position
LIMIT 1;

-- name: concepts_named
SELECT card_id, project_id, mode, title, aliases, definition FROM cards.concepts
WHERE user_id = %(user_id)s AND project_id = %(project_id)s AND name_keys && %(names)s::text[]
ORDER BY position;

-- name: corrected_card
-- A card as the tables have it. A card that is `gone` is retracted, contested, or records an end.
SELECT content, concept_key, value, gone, retracted, superseded_at <= %(at)s AS over, effective_at
FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind IN ('state', 'event', 'knowledge') AND card_id = %(card)s::uuid;

-- name: existing_cards
SELECT id, detail AS kind FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'card' AND id = ANY (%(cards)s::uuid[])
  AND detail IN ('state', 'event', 'knowledge');

-- name: existing_statement
-- The id of an earlier statement names the card that the statement is part of now.
SELECT detail FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'statement' AND id = %(card)s::uuid
LIMIT 1;

-- name: known_turns
SELECT e.dedupe_key
FROM unnest(%(partitions)s::smallint[], %(users)s::text[], %(keys)s::text[]) AS wanted(partition, user_id, dedupe_key)
JOIN log.events e USING (partition, user_id, dedupe_key);

-- name: position_of_card
-- The position of the event of a card, or of a statement that a card rests on, and the project of a card.
SELECT position, project_id FROM cards.command_targets
WHERE user_id = %(user_id)s AND target IN ('card', 'statement') AND id = %(card)s::uuid AND detail = %(kind)s
LIMIT 1;

-- name: relation_that_holds
-- The relation that an event made, whoever appended the event.
SELECT id AS from_card, detail AS predicate, leads_to AS to_card FROM cards.command_targets
WHERE user_id = %(user_id)s AND target = 'relation' AND made_by = %(relation)s::uuid
LIMIT 1;

-- name: retracted
-- A card of a state or of knowledge that a relation retracts. What is said again is another card.
SELECT r.made_by, r.id AS made_from FROM cards.command_targets r
WHERE r.user_id = %(user_id)s AND r.target = 'relation' AND r.detail = 'retracts' AND r.leads_to = %(card)s::uuid
  AND r.made_by IS NOT NULL
LIMIT 1;

-- name: within_reach
-- The cards and arbitrations among `ids` in these projects and modes. NULL means all of them. A target without a mode
-- belongs to the general mode. An arbitration is in reach when its project and the modes of both its cards are.
SELECT id
FROM cards.command_targets
WHERE user_id = %(user_id)s AND id = ANY (%(ids)s::uuid[])
  AND (target = 'card' AND detail IN ('state', 'event', 'knowledge') OR target = 'arbitration')
  AND (%(projects)s::text[] IS NULL OR project_id = ANY (%(projects)s::text[]))
  AND (%(modes)s::text[] IS NULL OR array_replace(modes, NULL, 'general') <@ %(modes)s::text[]);

-- name: would_close_cycle
-- True when relations of these predicates lead from one card to the other. UNION visits every card once.
WITH RECURSIVE reached(card) AS (
    SELECT %(from_card)s::uuid
    UNION
    SELECT r.leads_to FROM reached
    JOIN cards.command_targets r ON r.user_id = %(user_id)s AND r.target = 'relation' AND r.id = reached.card
                                AND r.detail = ANY (%(predicates)s::text[])
)
SELECT EXISTS (SELECT FROM reached WHERE card = %(to_card)s::uuid);

-- name: operation_target
-- The live generation of a projection, the status of the named one, and the event that stands first in the queue of a user.
SELECT (SELECT g.generation FROM log.generations g
        WHERE g.projection = %(projection)s AND g.status = 'live') AS live,
       (SELECT g.status FROM log.generations g
        WHERE g.projection = %(projection)s AND g.generation = %(generation)s::integer) AS status,
       (SELECT p.event_id FROM log.parked p
        JOIN log.generations g ON g.projection = p.processor AND g.generation = p.generation AND g.status = 'live'
        WHERE p.processor = %(projection)s AND p.user_id = %(user_id)s
        ORDER BY p.position LIMIT 1) AS event_id;

-- name: request_operation
-- A repeated request, and a second one while one is open, add nothing.
INSERT INTO log.operations (operation_id, user_id, action, projection, generation, event_id, verify, because, requested_by)
VALUES (%(operation_id)s, %(user_id)s, %(action)s, %(projection)s, %(generation)s, %(event_id)s, %(verify)s, %(because)s,
        %(requested_by)s)
ON CONFLICT DO NOTHING;

-- name: requested_operation
SELECT operation_id, user_id, action, projection, generation, event_id, verify, because, requested_by, requested_at, stage,
       share::float8 AS share, failed, outcome, done_at
FROM log.operations
WHERE user_id = %(user_id)s
  AND (operation_id = %(operation_id)s OR projection = %(projection)s AND done_at IS NULL)
ORDER BY operation_id = %(operation_id)s DESC LIMIT 1;
