-- Objects in the schemas of Cardlog that belong to another role than the connected one, which may log in: such a role
-- could replace them. A superuser could do so anyway.
SELECT DISTINCT r.rolname, o.name
FROM (
    SELECT n.oid AS schema, 'the schema ' || n.nspname AS name, n.nspowner AS owner FROM pg_namespace n
    UNION ALL
    SELECT c.relnamespace, c.oid::regclass::text, c.relowner FROM pg_class c WHERE c.relkind NOT IN ('i', 'I')
    UNION ALL
    SELECT p.pronamespace, p.oid::regprocedure::text, p.proowner FROM pg_proc p
) o
JOIN pg_namespace n ON n.oid = o.schema
JOIN pg_roles r ON r.oid = o.owner
WHERE r.rolcanlogin AND NOT r.rolsuper AND r.rolname <> current_user
  AND (n.nspname IN ('log', 'sealing', 'access', 'erasure', 'audit', 'vector_cache')
       OR n.nspname ~ ('^(' || array_to_string(%(projections)s::text[], '|') || ')(_g[0-9]+)?$'))
ORDER BY 2;
