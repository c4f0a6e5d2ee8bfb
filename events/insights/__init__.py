"""The insights of a user: what the curator concludes from several cards."""
