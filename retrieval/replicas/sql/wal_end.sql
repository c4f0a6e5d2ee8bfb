-- Where the log ends that replicas can have by now: what is committed for good is in it.
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint;
