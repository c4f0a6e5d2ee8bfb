-- Probes must not pile up on a busy server.
SET statement_timeout = '5s';
