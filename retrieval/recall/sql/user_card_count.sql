-- The number of cards of one user, and the approximate number of cards of all users.
SELECT cards, greatest(cards, (
           SELECT sum(reltuples) FROM pg_class
           WHERE oid IN ('cards.state_cards'::regclass, 'cards.event_cards'::regclass, 'cards.knowledge_cards'::regclass)))
FROM cards.card_counts WHERE user_id = %(user_id)s;
