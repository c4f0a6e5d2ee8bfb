"""Generations of a projection, their digests, and their rows in COPY format."""
