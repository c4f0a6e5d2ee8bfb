"""What a sentence states, and how two statements stand to each other. Pure functions on words of both languages."""
