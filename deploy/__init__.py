"""Runs Cardlog: the command line, the embedded servers and the stack."""
