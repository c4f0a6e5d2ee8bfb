"""Threads, to read."""
