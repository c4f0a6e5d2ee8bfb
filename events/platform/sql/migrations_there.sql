-- Asked of the tables themselves: a look-up by name would be remembered, and hide what another process makes meanwhile.
SELECT EXISTS (SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
               WHERE n.nspname = 'log' AND c.relname = 'migrations');
