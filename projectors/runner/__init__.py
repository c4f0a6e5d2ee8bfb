"""Driving a projector along the log."""
