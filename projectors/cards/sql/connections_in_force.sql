-- The stated edges that are reachable from these cards, along the direction of the edges.
WITH RECURSIVE link AS (
    SELECT r.user_id, r.from_card, r.to_card, r.predicate
    FROM unnest(%(users)s::text[], %(cards)s::uuid[]) AS start(user_id, card)
    JOIN relations r ON r.user_id = start.user_id AND r.from_card = start.card
    WHERE r.predicate = ANY (%(predicates)s::text[]) AND NOT r.implied AND NOT r.refused
    UNION
    SELECT r.user_id, r.from_card, r.to_card, r.predicate
    FROM link JOIN relations r ON r.user_id = link.user_id AND r.from_card = link.to_card
    WHERE r.predicate = ANY (%(predicates)s::text[]) AND NOT r.implied AND NOT r.refused
)
SELECT user_id, from_card, to_card, predicate FROM link;
