-- The cards as they were known: those nothing was said of since, and the others folded from what had been said.
(SELECT k.* FROM cards.cards k
 WHERE k.user_id = %(user_id)s AND k.kind IN ('state', 'event', 'knowledge') AND k.position <= %(known_position)s
   AND k.card_id <> ALL (%(hidden)s::uuid[])
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.cards, %(known_cards)s::text::json))
