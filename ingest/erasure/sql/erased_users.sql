SELECT user_id FROM erasure.tombstones WHERE erasure_id = %(erasure_id)s;
