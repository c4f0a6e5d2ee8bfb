"""The servers that answer, and how fresh each is."""
