"""The proxy between an app and its model: adds the memory to a request, and keeps what was said."""
