"""The ground under everything: settings, Postgres, Redis, named SQL, failures, waiting."""
