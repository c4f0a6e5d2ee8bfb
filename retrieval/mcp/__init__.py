"""The Model Context Protocol: tools and resources over the memory of one user."""
