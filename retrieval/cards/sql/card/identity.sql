-- The statements of the identity of this card, by their events.
SELECT s.identity, s.event_id
FROM cards.statements own JOIN cards.statements s USING (user_id, identity)
WHERE own.user_id = %(user_id)s AND own.event_id = %(card)s::uuid;
