-- Outside the append's transaction: a NOTIFY inside it would make every commit on the server queue behind one lock.
SELECT pg_notify('cardlog_log', %(types)s);
