-- This runs outside the transaction of the append. A NOTIFY inside makes all commits of the server wait for one lock.
SELECT pg_notify('cardlog_log', %(types)s);
