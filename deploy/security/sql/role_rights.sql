-- The rights of a role on the log, its own rights and the rights of the roles that it is a member of.
SELECT r.rolsuper, r.rolcreaterole, r.rolcanlogin, current_user = r.rolname AS is_ours,
       pg_has_role(r.oid, c.relowner, 'MEMBER') AS owns,
       has_table_privilege(r.oid, c.oid, 'INSERT') OR has_table_privilege(r.oid, c.oid, 'UPDATE')
           OR has_table_privilege(r.oid, c.oid, 'DELETE') OR has_table_privilege(r.oid, c.oid, 'TRUNCATE')
           OR has_table_privilege(r.oid, 'log.heads', 'INSERT') OR has_table_privilege(r.oid, 'log.heads', 'UPDATE')
           OR has_table_privilege(r.oid, 'log.heads', 'DELETE') OR has_table_privilege(r.oid, 'log.heads', 'TRUNCATE')
           OR has_schema_privilege(r.oid, 'log', 'CREATE') AS may_change
FROM pg_roles r, pg_class c
WHERE r.rolname = coalesce(%(role)s::text, current_user) AND c.oid = 'log.events'::regclass;
