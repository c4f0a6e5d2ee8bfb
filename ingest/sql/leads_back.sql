-- Whether the way from one card along relations of these predicates comes to another; every card is visited once.
WITH RECURSIVE reached(card) AS (
    SELECT %(from_card)s::uuid
    UNION
    SELECT r.to_card FROM reached
    JOIN cards.relations r ON r.user_id = %(user_id)s AND r.from_card = reached.card
                          AND r.predicate = ANY (%(predicates)s::text[]) AND NOT r.refused
)
SELECT EXISTS (SELECT FROM reached WHERE card = %(to_card)s::uuid);
