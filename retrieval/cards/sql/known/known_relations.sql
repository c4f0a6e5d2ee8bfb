(SELECT k.* FROM cards.relations k
 WHERE k.user_id = %(user_id)s AND k.created_at <= %(known_at)s::timestamptz
   AND NOT (k.implied AND k.event_id = ANY (%(hidden)s::uuid[]))
 UNION ALL
 SELECT * FROM json_populate_recordset(NULL::cards.relations, %(known_relations)s::text::json))
