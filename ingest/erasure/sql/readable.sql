-- The number of events of a user that can still be opened, among some positions.
SELECT count(*) FROM log.events e
WHERE e.partition = %(partition)s AND e.user_id = %(user_id)s AND e.position = ANY (%(positions)s::bigint[])
  AND NOT (starts_with(e.data::text, '{"sealed":"')
           AND NOT (EXISTS (SELECT FROM sealing.salts s WHERE s.partition = e.partition AND s.position = e.position)
                    AND EXISTS (SELECT FROM sealing.subject_keys k WHERE k.user_id = e.user_id)));
