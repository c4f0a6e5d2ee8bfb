"""The question and its scope. Both are computed once and used by every channel."""
