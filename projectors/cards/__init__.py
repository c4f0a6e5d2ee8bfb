"""The card tables: statements folded into timelines, timelines into cards."""
