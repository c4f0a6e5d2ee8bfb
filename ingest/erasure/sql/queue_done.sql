UPDATE erasure.tombstones SET queue_at = clock_timestamp()
WHERE queue_at IS NULL AND erasure_id = %(erasure_id)s AND user_id = %(user_id)s;
