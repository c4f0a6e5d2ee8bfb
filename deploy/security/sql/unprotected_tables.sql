-- The tables and views with a user that have no row-level security, or not for their owner, or not both policies. Tables of
-- a generation that is being built are not read yet.
SELECT c.oid::regclass::text
FROM pg_class c
JOIN pg_namespace n ON n.oid = c.relnamespace
JOIN pg_attribute a ON a.attrelid = c.oid AND a.attname = 'user_id' AND NOT a.attisdropped
WHERE n.nspname NOT IN ('pg_catalog', 'information_schema') AND n.nspname NOT LIKE 'pg\_temp%'
  AND n.nspname NOT IN (SELECT projection || '_g' || generation FROM log.generations WHERE status = 'building')
  AND CASE c.relkind
          WHEN 'v' THEN NOT coalesce('security_invoker=true' = ANY (c.reloptions), false)
          ELSE c.relkind IN ('r', 'p', 'm') AND NOT (
              c.relrowsecurity AND c.relforcerowsecurity
              AND 2 = (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid AND p.polname IN ('tenant', 'every_tenant'))
              AND 2 = (SELECT count(*) FROM pg_policy p WHERE p.polrelid = c.oid)) END
ORDER BY 1;
