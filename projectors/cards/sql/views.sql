-- The targets that a command may name, with their kind and, for a relation, the card it leads to. A card and a
-- statement have the position of their event. A card and an arbitration have their project and their modes: those of both
-- cards for an arbitration. The write API reads nothing else of this schema, so a change of the tables above does not
-- affect the write API.
CREATE VIEW command_targets AS
SELECT user_id, 'card' AS target, card_id AS id, kind COLLATE "C" AS detail, NULL::uuid AS leads_to, project_id,
       ARRAY[mode] AS modes, position
FROM cards
UNION ALL
SELECT user_id, 'statement', event_id, split_part(identity, E'\x1f', 1) COLLATE "C", NULL, NULL, NULL, position
FROM statements
UNION ALL
SELECT user_id, 'arbitration', arbitration_id, status COLLATE "C", NULL, project_id, ARRAY(
    SELECT c.mode FROM cards c
    WHERE c.user_id = a.user_id AND c.kind = 'state' AND c.card_id IN (a.old_card, a.new_card)), NULL
FROM arbitrations a
UNION ALL
SELECT user_id, 'relation', from_card, predicate, to_card, NULL, NULL, NULL FROM relations WHERE NOT refused;

-- What a proposal to retract reads: current states and episodes with the words that may mean them. Like the view above, it
-- keeps the write side apart from the tables.
CREATE VIEW retractable_cards AS
SELECT user_id, kind, card_id, content, concept_key, value, cardinality, project_id, turn_ids, position, episode,
       retracted OR contested OR ended AS gone, retracted, effective_at, superseded_at, last_verified, term_keys, own_terms
FROM cards;
-- The events that state the same fact as a card.
CREATE VIEW retractable_statements AS
SELECT own.user_id, own.event_id AS card_id, s.partition, s.position
FROM statements own JOIN statements s ON s.user_id = own.user_id AND s.identity = own.identity;
