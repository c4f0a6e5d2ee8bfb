"""People: the names in the cards of every user, and the places of the events that say who is whom."""
