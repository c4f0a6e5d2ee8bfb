SELECT EXISTS (SELECT FROM erasure.tombstones WHERE queue_at IS NULL)
    OR EXISTS (SELECT FROM erasure.retention WHERE ran_at IS NULL OR ran_at < clock_timestamp() - interval '1 day');
