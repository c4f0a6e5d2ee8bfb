"""Reads the modes of users for recalls and over HTTP."""
