"""Turns as they were recorded, by id and by session."""
