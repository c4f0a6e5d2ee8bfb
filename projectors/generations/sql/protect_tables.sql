-- The tables and views with a user that are not protected yet. The partitions of a table have policies of their own.
SELECT log.protect(c.oid::regclass)
FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id'
WHERE c.relnamespace = %(schema)s::text::regnamespace
  AND (c.relkind IN ('r', 'p') AND NOT c.relforcerowsecurity
       OR c.relkind = 'v' AND NOT coalesce('security_invoker=true' = ANY (c.reloptions), false));
