-- Both settings end with the transaction.
SELECT set_config('cardlog.tenant', %s, true), set_config('plan_cache_mode', %s, true);
