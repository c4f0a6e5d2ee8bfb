"""Tools beside the running service: the capacity model, the builder of the embedding model, the extraction trial."""
