"""Verbs that protect the memory: who asked for it."""
