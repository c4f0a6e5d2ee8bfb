"""Episodes: which turns are kept as one, and what a turn is worth. Both extractors judge turns so."""
