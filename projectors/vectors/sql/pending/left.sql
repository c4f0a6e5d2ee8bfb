SELECT count(*), extract(epoch FROM clock_timestamp() - min(recorded_at))::float8
FROM pending_vectors WHERE failure IS NULL;
