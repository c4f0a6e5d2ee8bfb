"""References: the commands that create and change them, on the log itself."""
