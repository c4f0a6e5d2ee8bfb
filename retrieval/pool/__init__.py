"""Connections of the read service."""
