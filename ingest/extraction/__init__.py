"""Recorded turns in, extracted events out: the port, what both extractors share, and the extractors."""
