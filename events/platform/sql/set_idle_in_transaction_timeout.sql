-- The server ends a session that is idle in a transaction for this long. The end of the session frees its locks.
SELECT set_config('idle_in_transaction_session_timeout', %(milliseconds)s::text, false);
