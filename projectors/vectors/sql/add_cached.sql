INSERT INTO vector_cache.vectors (model, content_hash, embedding)
SELECT %(model)s, content_hash, embedding
FROM unnest(%(hashes)s::bytea[], %(embeddings)s::vector[]) AS fresh(content_hash, embedding)
ON CONFLICT DO NOTHING;
