-- Whether the table of waiting cards exists, and whether that of the failing embedders does. A generation of an older
-- build may have neither, or only the first.
SELECT bool_or(c.relname = 'pending_vectors'), bool_or(c.relname = 'blocked_slots')
FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
WHERE n.nspname = current_schema() AND c.relname IN ('pending_vectors', 'blocked_slots');
