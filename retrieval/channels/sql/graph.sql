-- One hop from the seeds: along relations, to states of the same entity or concept, and to the neighbouring turns.
-- A link counts its own strength times the strength of its seed, and the best link of a card counts. `seed` is the seed
-- beside which a card stands, and NULL for a card that is related. Seeds may be found, too: two good hits side by side support each other.
WITH seed AS MATERIALIZED (
    SELECT s.strength, c.card_id, c.project_id, c.session_id, c.position, c.entity, c.concept_key
    FROM unnest(%(seeds)s::uuid[], %(strengths)s::float8[]) AS s(card_id, strength)
    JOIN cards.cards c
      ON c.user_id = %(user_id)s AND c.kind = ANY (ARRAY['state', 'event', 'knowledge']) AND c.card_id = s.card_id
), link AS MATERIALIZED (
    SELECT seed.strength * r.confidence AS strength, r.to_card AS card_id, NULL::uuid AS seed
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.from_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.strength * r.confidence, r.from_card, NULL
    FROM seed JOIN cards.relations r ON r.user_id = %(user_id)s AND r.to_card = seed.card_id AND NOT r.refused
    UNION ALL
    SELECT seed.strength * %(entity)s::float8, same.card_id, NULL
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.state_cards c
        WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.superseded_at IS NULL AND c.card_id <> seed.card_id
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    WHERE seed.entity <> %(owner)s
    UNION ALL
    SELECT seed.strength * %(concept)s::float8, same.card_id, NULL
    FROM seed CROSS JOIN LATERAL (
        SELECT c.card_id FROM cards.state_cards c
        WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.entity = seed.entity
          AND c.concept_key = seed.concept_key AND c.card_id <> seed.card_id
        ORDER BY c.effective_at DESC, c.card_id LIMIT 10
    ) same
    UNION ALL
    SELECT seed.strength / near.turns, near.card_id, seed.card_id
    FROM seed CROSS JOIN LATERAL (
        (SELECT c.card_id, row_number() OVER (ORDER BY c.position) AS turns FROM cards.event_cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position > seed.position AND c.episode
         ORDER BY c.position LIMIT 2)
        UNION ALL
        (SELECT c.card_id, row_number() OVER (ORDER BY c.position DESC) FROM cards.event_cards c
         WHERE c.user_id = %(user_id)s AND c.project_id = seed.project_id AND c.session_id = seed.session_id
           AND c.position < seed.position AND c.episode
         ORDER BY c.position DESC LIMIT 2)
    ) near
)
SELECT card_id, score, seed
FROM (
    SELECT DISTINCT ON (link.card_id) link.card_id, link.strength::float8 AS score, link.seed
    FROM link JOIN cards.cards c ON c.card_id = link.card_id AND {visible}
    ORDER BY link.card_id, link.strength DESC, link.seed NULLS FIRST
) best
ORDER BY score DESC, card_id
LIMIT %(limit)s;
