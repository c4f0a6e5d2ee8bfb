"""The lowest package: event types, the log, language, settings, HTTP and health. It imports no other package."""
