"""A proxy in this process, and the model behind it."""
