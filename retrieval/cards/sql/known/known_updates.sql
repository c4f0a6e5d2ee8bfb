(SELECT k.* FROM cards.card_update_log k
 WHERE k.user_id = %(user_id)s AND k.card_id <> ALL (%(hidden)s::uuid[])
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.card_update_log, %(known_updates)s::text::json))
