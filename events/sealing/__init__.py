"""Sealed payloads: encryption under a data key of each subject, and the keys."""
