"""The write service: pushes turns onto the Redis streams and appends commands to the log."""
