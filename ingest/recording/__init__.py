"""Moves turns from the Redis streams into the log."""
