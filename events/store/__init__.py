"""The event store: append, read, checkpoints, archive, verification."""
