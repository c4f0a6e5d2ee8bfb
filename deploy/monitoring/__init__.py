"""The health of a whole running Cardlog, for operators and containers."""
