"""Verbs that replay the log: rebuild, roll back, compare, read old turns again."""
