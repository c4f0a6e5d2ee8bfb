"""Changes of what was told before: announced changes, corrections, plans that move or are called off."""
