"""The vectors of the cards: a projection of its own, so that a dead embedder stops nothing else."""
