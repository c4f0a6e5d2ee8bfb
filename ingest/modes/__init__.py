"""Commands about modes and projects."""
