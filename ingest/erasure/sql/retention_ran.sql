UPDATE erasure.retention SET ran_at = clock_timestamp() WHERE %(tenant)s::text IS NULL OR tenant = %(tenant)s::text;
