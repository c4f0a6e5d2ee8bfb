SELECT tenant, mode, keep_days, ran_at FROM erasure.retention
WHERE %(tenant)s::text IS NULL OR tenant = %(tenant)s::text ORDER BY tenant, mode;
