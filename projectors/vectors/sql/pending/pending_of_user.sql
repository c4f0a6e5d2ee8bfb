SELECT count(*) FROM vectors.pending_vectors
WHERE user_id = %(user_id)s AND failure IS NULL AND position <= coalesce(%(position)s::bigint, position);
