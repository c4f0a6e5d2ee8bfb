-- Every name of the concepts that have this name, or of this card.
SELECT DISTINCT name
FROM {cards} c CROSS JOIN LATERAL unnest(ARRAY[c.title] || c.aliases) AS of(name)
WHERE c.user_id = %(user_id)s AND c.kind = 'knowledge' AND (c.card_id = %(card)s::uuid OR c.name_keys @> ARRAY[%(key)s::text]);
