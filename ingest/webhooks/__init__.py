"""Webhooks: the commands about them, and the worker that delivers their messages."""
