"""The build of the offline embedding models from weights in Python packages."""
