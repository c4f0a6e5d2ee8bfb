"""The kinds of references, one small module each."""
