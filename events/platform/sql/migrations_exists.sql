-- The query reads the catalog tables. A look-up by name (to_regclass) is cached and would hide a table that another
-- process creates meanwhile.
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'log' AND c.relname = 'migrations');
