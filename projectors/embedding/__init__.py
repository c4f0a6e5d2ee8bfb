"""Text analysis shared by writing and asking, so that both sides cut the same words."""
