-- The server ends a session that is silent in a transaction for so long, and with it every lock it holds.
SELECT set_config('idle_in_transaction_session_timeout', %(milliseconds)s::text, false);
