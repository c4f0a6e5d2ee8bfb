SELECT content_hash, embedding FROM vector_cache.vectors
WHERE model = %(model)s AND content_hash = ANY (%(hashes)s::bytea[]);
