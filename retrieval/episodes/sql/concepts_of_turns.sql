-- The concepts that the cards of some turns tell.
SELECT DISTINCT told.turn_id, c.concept_key
FROM cards.cards c CROSS JOIN LATERAL unnest(c.turn_ids) AS told(turn_id)
WHERE c.user_id = %(user_id)s AND c.kind IN ('state', 'event') AND c.concept_key IS NOT NULL AND NOT c.retracted
  AND c.turn_ids && %(turn_ids)s::text[];
