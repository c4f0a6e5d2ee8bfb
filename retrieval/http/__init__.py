"""The read service over HTTP."""
