-- One hop from the seeds: along relations, to states of the same entity or concept, and to the neighbouring turns.
-- Stated relations come first. A link counts its strength divided by the place of its seed. The links of all seeds to
-- one card are added.
WITH seed AS MATERIALIZED (
    SELECT s.place, c.card_id, c.project_id, c.session_id, c.position, c.entity, c.concept_key
    FROM unnest(%(seeds)s::uuid[]) WITH ORDINALITY AS s(card_id, place)
    JOIN cards.cards c
      ON c.user_id = %(user_id)s AND c.kind = ANY (ARRAY['state', 'event', 'knowledge']) AND c.card_id = s.card_id
), link AS MATERIALIZED (
    SELECT seed.place, r.to_card AS card_id, %(relation)s::float8 * r.confidence AS strength, true AS related
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.from_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.place, r.from_card, %(relation)s::float8 * r.confidence, true
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.to_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.place, same.card_id, %(entity)s::float8, false
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.state_cards c
        WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.superseded_at IS NULL
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    WHERE seed.entity <> %(owner)s
    UNION ALL
    SELECT seed.place, same.card_id, %(concept)s::float8, false
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.state_cards c
        WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.concept_key = seed.concept_key
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    UNION ALL
    SELECT seed.place, near.card_id, %(beside)s::float8, false
    FROM seed CROSS JOIN LATERAL (
        (SELECT c.card_id FROM cards.event_cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position > seed.position AND c.episode
         ORDER BY c.position LIMIT 2)
        UNION ALL
        (SELECT c.card_id FROM cards.event_cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position < seed.position AND c.episode
         ORDER BY c.position DESC LIMIT 2)
    ) near
)
SELECT link.card_id, sum(link.strength / link.place)::float8 AS score, bool_or(link.related) AS related
FROM link JOIN cards.cards c ON c.card_id = link.card_id AND {visible}
WHERE link.card_id <> ALL (%(seeds)s::uuid[]) AND link.card_id <> ALL (%(seen)s::uuid[])
GROUP BY link.card_id
ORDER BY related DESC, score DESC, link.card_id
LIMIT %(limit)s;
