INSERT INTO erasure.retention (tenant, mode, keep_days) VALUES (%(tenant)s, %(mode)s, %(keep_days)s)
ON CONFLICT (tenant, mode) DO UPDATE SET keep_days = excluded.keep_days, ran_at = NULL;
