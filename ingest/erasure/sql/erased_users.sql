SELECT user_id, kind, subject FROM erasure.tombstones WHERE erasure_id = %(erasure_id)s;
