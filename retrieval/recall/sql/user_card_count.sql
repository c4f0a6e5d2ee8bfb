-- The number of cards of one user, the approximate number of cards of all users, and the clock of the user's latest event.
SELECT cards, greatest(cards, (
           SELECT sum(reltuples) FROM pg_class
           WHERE oid IN ('cards.state_cards'::regclass, 'cards.event_cards'::regclass, 'cards.knowledge_cards'::regclass))),
       (SELECT time_zone FROM cards.event_cards
        WHERE user_id = %(user_id)s AND occurred_at <= now()
        ORDER BY occurred_at DESC LIMIT 1)
FROM cards.card_counts WHERE user_id = %(user_id)s;
