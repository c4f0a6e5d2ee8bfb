-- The episodes that hold the words of the turns.
SELECT card_id, position FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind = 'event' AND episode AND turn_ids && %(turn_ids)s::text[]
ORDER BY position;
