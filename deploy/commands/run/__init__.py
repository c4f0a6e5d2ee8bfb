"""Verbs that run Cardlog or feed it: up, demo, work, serve, push, wait."""
