"""People: who is named in words, the fold of a user's people, and people as the log has them."""
