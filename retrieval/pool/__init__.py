"""The connection pool of the read service."""
