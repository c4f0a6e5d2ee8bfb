-- The cards as they were known then: the cards without later statements, and the refolded cards of the others.
(SELECT k.* FROM cards.cards k
 WHERE k.user_id = %(user_id)s AND k.kind IN ('state', 'event', 'knowledge', 'reference') AND k.position <= %(known_position)s
   AND k.card_id <> ALL (%(hidden)s::uuid[])
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.cards, %(known_cards)s::text::json))
