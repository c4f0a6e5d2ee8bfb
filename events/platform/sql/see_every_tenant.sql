-- Not local to a transaction: every transaction of this session works for all tenants. A role without the right to do so
-- sees no row.
SELECT set_config('cardlog.tenant', '*', false);
