"""How well the curator relates pairs of statements."""
