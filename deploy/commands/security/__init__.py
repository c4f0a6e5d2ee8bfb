"""Verbs about who may do what: keys."""
