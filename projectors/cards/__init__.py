"""The card tables. Statements are folded into timelines, and timelines into cards."""
