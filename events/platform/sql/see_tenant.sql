SELECT set_config('cardlog.tenant', %(tenant)s, true);
