"""The vectors of the cards. They are a separate projection, so that a broken embedder stops nothing else."""
