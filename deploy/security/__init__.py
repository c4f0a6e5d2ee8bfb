"""Database roles with their rights, and files that only their owner may read."""
