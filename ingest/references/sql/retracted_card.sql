SELECT concept_key, value, turn_ids FROM cards.retractable_cards
WHERE user_id = %(user_id)s AND kind = 'state' AND card_id = %(card_id)s AND NOT retracted;
