-- The users of a tenant, in order. A user of the default tenant has a plain id.
SELECT DISTINCT e.user_id FROM log.events e
WHERE (%(tenant)s::text IS NULL
       OR CASE WHEN strpos(e.user_id, E'\x1f') > 0 THEN split_part(e.user_id, E'\x1f', 1) ELSE 'default' END
          = %(tenant)s::text)
ORDER BY e.user_id;
