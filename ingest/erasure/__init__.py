"""Erasure: events whose words nobody can read any more, and everything that was derived from them."""
