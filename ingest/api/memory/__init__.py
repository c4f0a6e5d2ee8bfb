"""Core documents over HTTP: patches, migration, and categories that grow."""
