"""References: the present values, for lists and searches, with their proposals, teams and kinds."""
