"""The lists of names, one file for each kind of thing."""
