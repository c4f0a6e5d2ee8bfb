"""Requests that a speaker makes to the assistant."""
