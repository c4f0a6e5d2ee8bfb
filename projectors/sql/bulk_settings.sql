-- For the sessions of a rebuild. Nothing they commit counts before the swap, whose own commit is waited for and
-- carries theirs; sorts and index builds are worth more memory than a request is.
SET synchronous_commit = off;
SET work_mem = '64MB';
SET maintenance_work_mem = '256MB';
SET cursor_tuple_fraction = 1;
