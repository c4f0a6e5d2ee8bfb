"""Changes of the schema of core documents over HTTP, to read."""
