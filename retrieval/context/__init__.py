"""A recall as prompt blocks within a token budget."""
