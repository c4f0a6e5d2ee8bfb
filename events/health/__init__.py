"""Heartbeats of workers, the health status of every stage, and both as metrics."""
