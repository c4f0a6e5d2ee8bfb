SELECT {columns}, {status} AS status
FROM {cards} c
WHERE c.user_id = %(user_id)s AND c.kind = ANY (%(kinds)s::text[]) AND c.card_id = ANY (%(cards)s::uuid[]);
