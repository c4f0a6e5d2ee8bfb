UPDATE erasure.tombstones SET scrubbed_at = clock_timestamp() WHERE scrubbed_at IS NULL AND erased_at < %(began)s;
