"""The commands of active problems."""
