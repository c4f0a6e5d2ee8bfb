-- Claims the daily run. A second process finds nothing to claim.
UPDATE erasure.retention SET ran_at = clock_timestamp()
WHERE ran_at IS NULL OR ran_at < clock_timestamp() - interval '1 day';
