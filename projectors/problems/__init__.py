"""Active problems: the present problems of every user, and the places of the events that made them."""
