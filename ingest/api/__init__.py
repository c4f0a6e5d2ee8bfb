"""The write service: turns onto the stream, commands into the log."""
