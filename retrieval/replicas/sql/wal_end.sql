-- The end of the flushed write-ahead log. It contains every durable commit, and replicas can have it now.
SELECT pg_wal_lsn_diff(pg_current_wal_flush_lsn(), '0/0')::bigint;
