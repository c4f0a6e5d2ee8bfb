"""The basis of every package: settings, Postgres, Redis, named SQL, failures, waiting."""
