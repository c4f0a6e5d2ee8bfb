"""Who may do what in the database, and files that only their owner may read."""
