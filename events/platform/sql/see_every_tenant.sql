-- Not local to a transaction: every transaction of this session works for all tenants. A role without the right to do so
-- sees no row. Names without a schema mean the server's own objects and extensions, and never those of another role.
SELECT set_config('cardlog.tenant', %(tenant)s, false), set_config('search_path', 'public, pg_temp', false);
