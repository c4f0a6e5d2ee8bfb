"""Events that a live projection cannot fold: parked with their user, retried, dropped."""
