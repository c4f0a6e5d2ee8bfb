SELECT user_id, erasure_id, kind, subject, events, erased_at FROM erasure.tombstones ORDER BY erased_at, user_id;
