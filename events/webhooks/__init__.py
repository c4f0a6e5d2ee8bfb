"""Webhooks: the subscriptions of a user, of the log, and the messages that are due."""
