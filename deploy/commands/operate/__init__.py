"""Verbs of operators: status, top, log, dead, parked."""
