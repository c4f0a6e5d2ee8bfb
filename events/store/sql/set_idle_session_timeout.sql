-- A stopped process keeps its connection and its locks. The server ends such a session after this time.
SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false);
