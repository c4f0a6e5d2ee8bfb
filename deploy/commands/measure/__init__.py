"""Verbs that measure or compute: eval, capacity."""
