"""The workers that drive an extractor along the log."""
