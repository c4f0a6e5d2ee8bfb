-- A statement that made a card once stands for the card it is part of by now.
SELECT split_part(s.identity, E'\x1f', 1) FROM cards.statements s
WHERE s.user_id = %(user_id)s AND s.event_id = %(card)s::uuid
LIMIT 1;
