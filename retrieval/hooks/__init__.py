"""Hooks of assistants: the question that an event asks, and the turns that it tells."""
