-- What a later fold puts again: the present document, and the entries that changed.
WITH gone AS (DELETE FROM queue WHERE user_id = %(user_id)s AND queue_id = ANY (%(entries)s::uuid[]))
DELETE FROM documents WHERE user_id = %(user_id)s;
