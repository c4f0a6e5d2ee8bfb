-- name: candidates
-- The episodes that may have the best scores: those with a term of a topic, those whose turns tell a concept of a path,
-- and the most important ones.
WITH touched AS (
    SELECT DISTINCT told.turn_id
    FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
    WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event') AND c.episode IS NOT TRUE AND NOT c.retracted
      AND (c.concept_key = ANY (%(keys)s::text[])
           OR %(other_keys)s::boolean AND c.concept_key <> ALL (%(registered)s::text[]))
), own AS (
    SELECT e.card_id, e.content, e.occurred_at, e.said_at, e.speaker, e.topics, e.sentiment, e.importance, e.turn_ids,
           e.session_id, e.project_id, e.mode, e.term_keys
    FROM cards.event_cards e
    WHERE e.user_id = %(user_id)s AND e.episode AND NOT e.retracted
      AND (%(project_id)s::text IS NULL OR e.project_id = %(project_id)s)
      AND (%(reached_projects)s::text[] IS NULL OR e.project_id = ANY (%(reached_projects)s::text[]))
      AND (%(reached_modes)s::text[] IS NULL OR coalesce(e.mode, 'general') = ANY (%(reached_modes)s::text[]))
), chosen AS (
    (SELECT card_id FROM own WHERE term_keys && %(terms)s::integer[] OR turn_ids && ARRAY(SELECT turn_id FROM touched)
     ORDER BY said_at DESC LIMIT 2000)
    UNION
    (SELECT card_id FROM own ORDER BY importance DESC, said_at DESC LIMIT 200)
)
SELECT o.card_id, o.content, o.occurred_at, o.said_at, o.speaker, o.topics, o.sentiment, o.importance, o.turn_ids,
       o.session_id, o.project_id, o.mode
FROM own o JOIN chosen USING (card_id);

-- name: concepts_of_turns
-- The concepts that the cards of some turns tell.
SELECT DISTINCT told.turn_id, c.concept_key
FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event') AND c.concept_key IS NOT NULL AND NOT c.retracted
  AND c.turn_ids && %(turn_ids)s::text[];
