SELECT user_id, erasure_id, kind, events, erased_at FROM erasure.tombstones ORDER BY erased_at, user_id;
