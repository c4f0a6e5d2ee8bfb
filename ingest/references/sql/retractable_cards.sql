-- The current states of a user that have one of the concepts, or share a term.
SELECT card_id, content, concept_key, cardinality, term_keys[1:own_terms] AS terms
FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind = 'state' AND project_id = %(project_id)s AND NOT gone
  AND effective_at <= %(at)s AND (superseded_at IS NULL OR superseded_at > %(at)s)
  AND (concept_key = ANY (%(concepts)s::text[]) OR term_keys && %(keys)s::integer[])
ORDER BY last_verified DESC, card_id
LIMIT 200;
