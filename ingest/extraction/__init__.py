"""Extracts card events from recorded turns: the port, the parts both extractors share, and the extractors."""
