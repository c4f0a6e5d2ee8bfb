"""The English grammar of time expressions."""
