-- name: create_database
CREATE DATABASE cardlog;

-- name: create_extensions
CREATE EXTENSION IF NOT EXISTS vector;
CREATE EXTENSION IF NOT EXISTS pg_trgm;
