CREATE SCHEMA IF NOT EXISTS log;
CREATE TABLE IF NOT EXISTS log.migrations (
    name       text PRIMARY KEY,
    applied_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
