"""Insights, to read."""
