"""Embedded PostgreSQL and Redis. Both come as Python packages and run as child processes."""
