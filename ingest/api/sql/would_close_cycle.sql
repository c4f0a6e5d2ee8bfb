-- True when relations of these predicates lead from one card to the other. UNION visits every card once.
WITH RECURSIVE reached(card) AS (
    SELECT %(from_card)s::uuid
    UNION
    SELECT r.leads_to FROM reached
    JOIN cards.command_targets r ON r.user_id = %(user_id)s AND r.target = 'relation' AND r.id = reached.card
                                AND r.detail = ANY (%(predicates)s::text[])
)
SELECT EXISTS (SELECT FROM reached WHERE card = %(to_card)s::uuid);
