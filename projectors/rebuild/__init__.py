"""Folds a new generation of a projection while the live one serves, and swaps it in."""
