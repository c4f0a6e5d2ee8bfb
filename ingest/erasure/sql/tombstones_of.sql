-- The users of one erasure, or the erasures that are not finished for NULL.
SELECT * FROM erasure.tombstones
WHERE CASE WHEN %(erasure_id)s::uuid IS NULL THEN queue_at IS NULL ELSE erasure_id = %(erasure_id)s::uuid END
ORDER BY erased_at, user_id;
