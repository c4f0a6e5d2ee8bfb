"""The lowest package: event types, the log, language, settings, HTTP and health. It imports no other package."""

OWNER = "cardlog"
"""The command refuses to run with a package ``events`` that another project put in this place."""
