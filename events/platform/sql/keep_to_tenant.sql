-- Not local to a transaction: every transaction of this session works for one tenant.
SELECT set_config('cardlog.tenant', %(tenant)s, false);
