"""The health of a running Cardlog as a whole, as operators and containers ask for it."""
