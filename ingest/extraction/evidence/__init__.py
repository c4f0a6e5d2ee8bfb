"""Whether words bear out what is said to rest on them."""
