"""Finds the words that open a problem, tell an attempt, or close a problem."""
