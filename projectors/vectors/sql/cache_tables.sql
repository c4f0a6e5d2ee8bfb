-- Content-addressed and shared by all generations: the same text is never embedded twice by the same model.
-- It is derived data and may be dropped at any time; only time is lost.
CREATE SCHEMA IF NOT EXISTS vector_cache;
CREATE TABLE IF NOT EXISTS vector_cache.vectors (
    model        text COLLATE "C" NOT NULL,
    content_hash bytea NOT NULL,
    embedding    vector NOT NULL,
    PRIMARY KEY (model, content_hash)
);
