"""Generations of a projection, their digests, and rows in COPY format."""
