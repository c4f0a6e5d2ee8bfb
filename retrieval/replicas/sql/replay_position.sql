-- Shows if this server is a replica, and the position up to which it has replayed the primary's log.
SELECT pg_is_in_recovery(), pg_wal_lsn_diff(pg_last_wal_replay_lsn(), '0/0')::bigint;
