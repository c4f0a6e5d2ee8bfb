"""Programs beside the running service: the capacity model, the offline embedding model, the extraction trial."""
