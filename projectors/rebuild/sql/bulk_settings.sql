-- Settings for the sessions of a rebuild. Their commits matter only after the swap. The commit of the swap is
-- synchronous, and it flushes the earlier commits too. Sorts and index builds get more memory than a request.
SET synchronous_commit = off;
SET work_mem = '64MB';
SET maintenance_work_mem = '256MB';
SET cursor_tuple_fraction = 1;
-- Compressing the pages of new indexes takes a fifth of their build time. Only a superuser may switch it off.
SELECT set_config('wal_compression', 'off', false)
WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
