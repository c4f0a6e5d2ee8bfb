"""Verbs that measure or reckon: eval, capacity."""
