SELECT set_config('idle_session_timeout', %(idle_ms)s::text, false);
