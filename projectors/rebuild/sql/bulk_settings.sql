-- For the sessions of a rebuild. Nothing they commit counts before the swap, whose own commit is waited for and
-- carries theirs; sorts and index builds are worth more memory than a request is.
SET synchronous_commit = off;
SET work_mem = '64MB';
SET maintenance_work_mem = '256MB';
SET cursor_tuple_fraction = 1;
-- Compressing the pages of new indexes takes a fifth of the time to build them. Only superusers may choose.
SELECT set_config('wal_compression', 'off', false)
WHERE (SELECT rolsuper FROM pg_roles WHERE rolname = current_user);
