-- The re-embeddings of modes that everybody has which are not done yet, the oldest first.
SELECT reembedding_id, mode, embedder FROM log.reembeddings WHERE done_at IS NULL ORDER BY requested_at, reembedding_id;
