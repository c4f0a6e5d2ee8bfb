"""The forms in which other memories give their text away. Each module reads one form."""
