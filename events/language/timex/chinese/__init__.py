"""The Chinese grammar of time expressions, for traditional and simplified characters."""
