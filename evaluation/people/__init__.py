"""Measures merges of people: a precision–recall curve over the threshold, and the chosen point."""
