-- Whether the way from one card along relations of these predicates comes to another; every card is visited once.
WITH RECURSIVE reached(card) AS (
    SELECT %(from_card)s::uuid
    UNION
    SELECT r.leads_to FROM reached
    JOIN cards.command_targets r ON r.user_id = %(user_id)s AND r.target = 'relation' AND r.id = reached.card
                                AND r.detail = ANY (%(predicates)s::text[])
)
SELECT EXISTS (SELECT FROM reached WHERE card = %(to_card)s::uuid);
