"""Erases, keeps for a time, exports and imports what is known of people."""
