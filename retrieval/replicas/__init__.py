"""The Postgres servers that answer questions, and the freshness of each."""
