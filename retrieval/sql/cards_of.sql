SELECT cards FROM cards.card_counts WHERE user_id = %(user_id)s;
