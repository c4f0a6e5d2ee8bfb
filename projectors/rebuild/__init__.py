"""Folds a new generation of a projection beside the live one, and swaps it in."""
