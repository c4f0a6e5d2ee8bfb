INSERT INTO erasure.tombstones (user_id, erasure_id, kind, subject, erased_by, reason, events, partition, position,
                                before, after, counts, began_at, erased_at)
VALUES (%(user_id)s, %(erasure_id)s, %(kind)s, %(subject)s, %(by)s, %(reason)s, %(events)s, %(partition)s, %(position)s,
        %(before)s, %(after)s, %(counts)s::text::jsonb, %(began_at)s, clock_timestamp())
RETURNING erased_at;
