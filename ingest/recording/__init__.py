"""Turns off the Redis stream, into the log."""
