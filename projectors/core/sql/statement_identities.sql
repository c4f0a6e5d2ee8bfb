-- The identities of statements, which are named by their ids or by their positions.
SELECT DISTINCT s.identity FROM card_statements s
WHERE s.user_id = %(user_id)s
  AND (s.event_id = ANY (%(events)s::uuid[]) OR s.position = ANY (%(positions)s::bigint[]));
