"""Active problems: the fold of a user's problems, the words that name a problem, and problems as the log has them."""
