-- The cache is addressed by content and shared by all generations. The same model never embeds the same text twice.
-- The cache is derived data. Dropping it at any time only costs the time to compute the vectors again.
CREATE SCHEMA IF NOT EXISTS vector_cache;
CREATE TABLE IF NOT EXISTS vector_cache.vectors (
    model        text COLLATE "C" NOT NULL,
    content_hash bytea NOT NULL,
    embedding    vector NOT NULL,
    PRIMARY KEY (model, content_hash)
);
