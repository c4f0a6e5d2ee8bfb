"""What a live projection cannot fold: set aside with its user, retried, dropped."""
