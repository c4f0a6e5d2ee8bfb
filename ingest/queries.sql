-- name: request_reembedding
-- One open re-embedding of a mode is enough. A repeated request names the embedder of the present settings.
INSERT INTO log.reembeddings (reembedding_id, mode, embedder, requested_by)
VALUES (%(reembedding_id)s, %(mode)s, %(embedder)s, %(requested_by)s)
ON CONFLICT (mode) WHERE done_at IS NULL DO UPDATE SET embedder = excluded.embedder
RETURNING reembedding_id;
