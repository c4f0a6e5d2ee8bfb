-- The cache names no user. Another user of the same words only costs the time to embed them again.
DELETE FROM vector_cache.vectors WHERE content_hash = ANY (%(hashes)s::bytea[]);
