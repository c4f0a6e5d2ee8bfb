-- The most important current states and references of a user, of each context layer and kind, and the latest events and
-- concepts, most important first. `retrieval/recall/ranking/overview.py` orders them.
WITH recent AS (
    (SELECT c.card_id FROM cards.cards c
     WHERE c.kind = 'event' AND {visible} ORDER BY c.occurred_at DESC LIMIT %(looked_at)s)
    UNION ALL
    (SELECT c.card_id FROM cards.cards c
     WHERE c.kind = 'knowledge' AND {visible} ORDER BY c.last_verified DESC LIMIT %(looked_at)s)
    UNION ALL
    (SELECT c.card_id FROM cards.cards c WHERE c.kind IN ('state', 'reference') AND NOT c.ended AND {visible})
), placed AS (
    SELECT c.card_id, row_number() OVER (
        PARTITION BY c.kind, c.context_layer
        ORDER BY (c.entity = %(owner)s) DESC NULLS LAST, (c.concept_key = ANY (%(registered)s)) DESC NULLS LAST,
                 (c.cardinality = 'single_value') DESC NULLS LAST, c.importance DESC NULLS LAST, c.mentions DESC,
                 c.last_verified DESC, c.card_id) AS place
    FROM cards.cards c
    WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id IN (SELECT card_id FROM recent)
)
SELECT card_id FROM placed WHERE place <= %(limit)s ORDER BY place, card_id;
