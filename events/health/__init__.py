"""Heartbeats of workers, the health status of every stage, and the metrics of both."""
