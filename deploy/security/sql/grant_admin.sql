-- Migrates, imports and repairs: a member of the owners of the log and of the folded tables.
GRANT CREATE, TEMPORARY ON DATABASE {database} TO {role};
GRANT {owner}, {readers} TO {role};
DO $$
DECLARE
    it record;
BEGIN
    FOR it IN SELECT DISTINCT r.rolname AS name
              FROM pg_namespace n JOIN log.generations g ON n.nspname = g.projection JOIN pg_roles r ON r.oid = n.nspowner
              WHERE g.status = 'live' AND NOT r.rolsuper AND r.rolname <> {role_name} LOOP
        EXECUTE format('GRANT %I TO %I', it.name, {role_name});
    END LOOP;
END $$;
