-- name: living
-- The cards of a user that hold: neither withdrawn, nor retracted, nor superseded. A relation retracts an event card.
SELECT card_id FROM cards.remembered_cards
WHERE user_id = %(user_id)s AND card_id = ANY (%(cards)s::uuid[]) AND NOT retracted AND superseded_at IS NULL
  AND card_id NOT IN (SELECT r.to_card FROM cards.remembered_relations r
                      WHERE r.user_id = %(user_id)s AND r.predicate = 'retracts' AND NOT r.implied);
