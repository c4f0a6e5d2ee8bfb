-- A process that is stopped keeps its connection, and with it the partitions it owns: the server ends it then.
SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false);
