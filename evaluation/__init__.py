"""Measures how well turns are understood and questions answered. A checkout has this package, the wheel does not."""
