"""Modes and projects of users, as the log has them."""
