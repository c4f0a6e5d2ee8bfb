INSERT INTO card_counts AS c (user_id, cards, terms)
SELECT * FROM unnest(%(users)s::text[], %(cards)s::bigint[], %(terms)s::bigint[])
ON CONFLICT (user_id) DO UPDATE SET cards = c.cards + EXCLUDED.cards, terms = c.terms + EXCLUDED.terms;
