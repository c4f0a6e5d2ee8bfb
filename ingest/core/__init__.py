"""The core document: the commands that change it, on the log itself."""
